import { html } from 'lit-html';
import { isApiProblem, type Versioned } from 'rostrum-client';
import type { Item, Kind } from './fields.ts';
import { reads } from './rights.ts';
import { session } from './session.ts';
import * as ui from './ui.ts';

const changed = 'Somebody else changed it meanwhile: look at it again before you delete it.';

/** The record, at the version that the person sees, and how many posts a user has, where it is known. */
type Seen = Versioned<Item> & { readonly posts: number | undefined };

/**
 * The deletion of a record, with a choice for the posts of a user.
 *
 * @param view where it is asked for
 */
export function removal(kind: Kind, seen: () => Seen, view: ui.View) {
  let error = '';
  let isBusy = false;
  /** What the person saw who asks for it: not what somebody makes of it while the dialog is open. */
  let asked = seen();
  const { id } = asked.record;
  const dialog = () => document.querySelector<HTMLDialogElement>('#removal');
  const mayChoose =
    session.has('posts:write') || (id === session.subject && session.has('posts:write:own'));

  function open(): void {
    [error, asked] = ['', seen()];
    ui.refresh();
    dialog()?.showModal();
  }

  async function remove(posts?: 'keep' | 'delete'): Promise<void> {
    isBusy = true;
    ui.refresh();
    try {
      await session[kind].delete(id, { ifMatch: asked.version, posts });
      if (!view.isLeft) {
        dialog()?.close();
        view.isLeft = true;
        location.hash = ui.href(reads(kind) ? kind : '');
      }
      ui.notify('Deleted.');
    } catch (cause) {
      error = isApiProblem(cause, 'version-mismatch') ? changed : ui.sentenceOf(cause);
      ui.focus('#removal h2');
    }
    isBusy = false;
    ui.refresh();
  }

  function show(): ui.Html {
    const choice = (text: string, posts?: 'keep' | 'delete') =>
      ui.button(text, () => remove(posts), posts === 'delete' ? 'bad worse' : 'bad', isBusy);
    const { record, posts } = asked;
    // Posts may have come since they were counted: then it was refused.
    const asks = kind === 'users' && mayChoose && (posts !== 0 || error !== '');
    const those = posts === undefined ? 'The posts' : ui.countOf(posts, 'posts');
    const both = [choice('Delete, keep posts', 'keep'), choice('Delete with posts', 'delete')];
    return html`<dialog id="removal" aria-labelledby="removal-title">
      <h2 id="removal-title" tabindex="-1">Delete “${record.name ?? record.title}”?</h2> ${ui.alertOf(error)}
      <p>This cannot be undone.${asks ? ` ${those} of this user may stay, without an author, or go too.` : ''}</p>
      <div class="bar">${ui.button('Cancel', () => dialog()?.close())} ${asks ? both : choice('Delete')}</div></dialog>`;
  }

  return { open, show, isBusy: () => isBusy };
}
