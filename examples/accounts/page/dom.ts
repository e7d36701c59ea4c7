/** Creates an element with these properties and children. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export const link = (href: string, text: string, properties: Partial<HTMLAnchorElement> = {}) =>
  h('a', { href, ...properties }, text);

/** Creates a row of buttons. */
export const bar = (...buttons: Node[]) => h('div', { className: 'bar' }, ...buttons);

export const badge = (text: string) => h('span', { className: 'badge' }, text);

let fields = 0;

/** Creates a labelled input or textarea, with room for what is wrong with it. */
export function field(label: string, control: HTMLInputElement | HTMLTextAreaElement) {
  const error = h('p', { className: 'error', id: `error-${++fields}` });
  control.setAttribute('aria-describedby', error.id);
  return h('div', { className: 'field' }, h('label', {}, label, control), error);
}

export const input = (name: string, properties: Partial<HTMLInputElement> = {}) =>
  h('input', { name, ...properties });

export const submit = (text: string, properties: Partial<HTMLButtonElement> = {}) =>
  h('button', { type: 'submit', className: 'primary', ...properties }, text);

/** Shows a short message, until the next one or the next view. */
export function say(text: string): void {
  find('status').textContent = text;
}

export function find(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The page has no element "${id}".`);
  return element;
}
