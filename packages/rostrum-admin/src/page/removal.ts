import { html } from 'lit-html';
import type { Item, Kind } from './fields.ts';
import { session } from './session.ts';
import * as ui from './ui.ts';

const dialog = () => document.querySelector<HTMLDialogElement>('#removal');

export const openDialog = () => dialog()?.showModal();
export const isAsking = () => dialog()?.open === true;

/**
 * Asks whether a record is to be deleted, and what becomes of the posts of a user.
 *
 * @param posts how many the user has, where that is known
 */
export function removal(
  kind: Kind,
  record: Item,
  posts: number | undefined,
  remove: (posts?: 'keep' | 'delete') => void,
  closed: () => void,
): ui.Html {
  const choice = (text: string, posts?: 'keep' | 'delete') =>
    html`<button class=${posts === 'delete' ? 'bad worse' : 'bad'} @click=${() => remove(posts)}>${text}</button>`;
  const isOwn = record.id === session.subject && session.has('posts:write:own');
  const asks = kind === 'users' && posts !== 0 && (isOwn || session.has('posts:write'));
  const those = posts === undefined ? 'The posts' : ui.countOf(posts, 'posts');
  const both = [choice('Delete, keep posts', 'keep'), choice('Delete with posts', 'delete')];
  return html`<dialog id="removal" aria-labelledby="removal-title" @close=${closed}>
    <h2 id="removal-title" tabindex="-1">Delete “${record[ui.words[kind].title]}”?</h2>
    <p>This cannot be undone.${asks ? ` ${those} of this user may stay, without an author, or go too.` : ''}</p>
    <form method="dialog" class="bar"><button>Cancel</button> ${asks ? both : choice('Delete')}</form></dialog>`;
}
