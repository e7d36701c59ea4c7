import { html } from 'lit-html';
import type { Item, Kind } from './fields.ts';
import { session } from './session.ts';
import * as ui from './ui.ts';

const dialog = () => document.querySelector<HTMLDialogElement>('#removal');

export const askToRemove = () => dialog()?.showModal();
export const isAsking = () => dialog()?.open === true;

/**
 * Asks whether a record is to be deleted, and what becomes of the posts of a user.
 *
 * @param posts how many the user has, where that is known
 */
export function removal(
  kind: Kind,
  { id, name, title }: Item,
  posts: number | undefined,
  remove: (posts?: 'keep' | 'delete') => void,
): ui.Html {
  const choice = (text: string, posts?: 'keep' | 'delete') => {
    const choose = () => {
      dialog()?.close();
      remove(posts);
    };
    return ui.button(text, choose, posts === 'delete' ? 'bad worse' : 'bad');
  };
  const isOwn = id === session.subject && session.has('posts:write:own');
  const asks = kind === 'users' && posts !== 0 && (isOwn || session.has('posts:write'));
  const those = posts === undefined ? 'The posts' : ui.countOf(posts, 'posts');
  const both = [choice('Delete, keep posts', 'keep'), choice('Delete with posts', 'delete')];
  return html`<dialog id="removal" aria-labelledby="removal-title">
    <h2 id="removal-title" tabindex="-1">Delete “${name ?? title}”?</h2>
    <p>This cannot be undone.${asks ? ` ${those} of this user may stay, without an author, or go too.` : ''}</p>
    <div class="bar">${ui.button('Cancel', () => dialog()?.close())} ${asks ? both : choice('Delete')}</div></dialog>`;
}
