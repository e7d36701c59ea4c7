import { html } from 'lit-html';
import { isApiProblem, type Versioned } from 'rostrum-client';
import { alertOf, focus, type Html, href, refresh, sentenceOf, tell } from './page.ts';
import { type Item, type Kind, reads, session } from './session.ts';

const changed = 'Somebody else changed it meanwhile: open it again, and look before you delete it.';

/** The deletion of a record: asked for twice, and with a choice for the posts of a user. */
export function removal(kind: Kind, { record, version }: Versioned<Item>) {
  /** How many posts the user has, once the server said that there are some; -1 for some. */
  let posts = 0;
  let error = '';
  let isBusy = false;
  const { id } = record;
  const dialog = () => document.querySelector<HTMLDialogElement>('#removal');
  const isOwn = id === session.subject;
  const mayChoose = session.has('posts:write', ...(isOwn ? ['posts:write:own'] : []));

  function open(): void {
    [posts, error] = [0, ''];
    refresh();
    dialog()?.showModal();
  }

  async function remove(choice?: 'keep' | 'delete'): Promise<void> {
    isBusy = true;
    refresh();
    try {
      await session[kind].delete(id, { ifMatch: version, posts: choice });
      dialog()?.close();
      location.hash = href(reads(kind) ? kind : '');
      tell('It is deleted.');
    } catch (cause) {
      if (isApiProblem(cause, 'user-has-posts')) posts = cause.details.posts ?? -1;
      error = isApiProblem(cause, 'version-mismatch') ? changed : sentenceOf(cause);
      if (posts !== 0 && mayChoose) error = '';
      focus('#removal h2');
    }
    isBusy = false;
    refresh();
  }

  function show(): Html {
    const button = (text: string, choice?: 'keep' | 'delete') =>
      html`<button type="button" class="bad" ?disabled=${isBusy} @click=${() => remove(choice)}>${text}</button>`;
    const asks = posts !== 0 && mayChoose;
    const count = posts < 0 ? 'posts' : posts === 1 ? '1 post' : `${posts} posts`;
    const { name, title } = record;
    return html`<dialog id="removal" aria-labelledby="removal-title">
      <h2 id="removal-title" tabindex="-1">${asks ? `${name} has ${count}` : `Delete “${name ?? title}”?`}</h2>
      ${alertOf(error)}
      <p>${asks ? 'What is to become of them? Kept posts have no author afterwards.' : 'It is gone for good then.'}</p>
      <div class="bar">${asks ? [button('Delete the user and keep the posts', 'keep'), button('Delete the posts too', 'delete')] : button('Delete')}
      <button type="button" @click=${() => dialog()?.close()}>Cancel</button></div></dialog>`;
  }

  const button = () => html`<button type="button" class="bad" @click=${open}>Delete…</button>`;
  return { button, show };
}
