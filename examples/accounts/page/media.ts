// Images in a text, by button, drag and paste; and the preview.

import { attempt, button } from './actions.ts';
import { h, input, say } from './dom.ts';
import { token } from './session.ts';

/** Sends a request to the blog, and returns the response. */
async function send(path: string, body: BodyInit): Promise<Response> {
  const headers = { Authorization: `Bearer ${await token()}` };
  const response = await fetch(path, { method: 'POST', headers, body });
  if (response.ok) return response;
  const { detail } = await response.json().catch(() => ({}));
  const message = detail ?? 'The server could not read this.';
  throw Object.assign(new Error(message), { status: response.status });
}

/** Lets a textarea take images. Returns a button that chooses some. */
export function imageButton(text: HTMLTextAreaElement, isMarkdown: () => boolean): HTMLElement {
  async function add(files: Iterable<File>): Promise<void> {
    for (const file of files) {
      // The server checks this too, but its response can be lost while the browser still sends.
      if (file.size > 5_000_000) throw new Error(`${file.name} is too large: send at most 5 MB.`);
      say(`Sending ${file.name} …`);
      const { path } = await (await send('/images', file).finally(() => say(''))).json();
      // The name of the file is only its description, without characters that could end it.
      const words = file.name.replace(/\.\w+$/, '').match(/[\p{L}\p{N}]+/gu);
      const name = words?.join(' ') ?? '';
      const image = isMarkdown() ? `![${name}](${path})` : `<img src="${path}" alt="${name}">`;
      text.setRangeText(image, text.selectionStart, text.selectionEnd, 'end');
      say('Image added. Describe it between the brackets.');
    }
  }
  const take = (event: Event, data: DataTransfer | null) => {
    const files = [...(data?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    attempt(() => add(files));
  };
  text.addEventListener('paste', (event) => take(event, event.clipboardData));
  text.addEventListener('drop', (event) => take(event, event.dataTransfer));
  text.addEventListener('dragover', (event) => event.preventDefault());
  const chooser = input('', { type: 'file', accept: 'image/*', multiple: true, hidden: true });
  chooser.onchange = async () => {
    await attempt(() => add(chooser.files ?? []));
    chooser.value = '';
  };
  const open = button('Add images', async () => chooser.click());
  return h('span', {}, chooser, open);
}

/** Returns a button that shows a text as readers will see it, in a frame that runs no script. */
export function previewButton(read: () => string, format: () => string, place: HTMLElement) {
  return button('Preview', async () => {
    const response = await send(`/preview?format=${format()}`, read());
    const frame = h('iframe', { title: 'Preview', srcdoc: await response.text() });
    frame.setAttribute('sandbox', '');
    place.replaceChildren(frame);
    frame.scrollIntoView({ block: 'nearest' });
  });
}
