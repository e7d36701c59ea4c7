import { html } from 'lit-html';
import type { Item, Kind } from './fields.ts';
import { session } from './session.ts';
import * as ui from './ui.ts';

const dialog = () => document.querySelector<HTMLDialogElement>('#removal');

export const openDialog = () => dialog()?.showModal();
export const isAsking = () => dialog()?.open === true;

/**
 * Asks whether to delete a record, and what to do with the posts of a user.
 *
 * @param posts the number of the user's posts, where it is known
 */
export function removal(
  kind: Kind,
  record: Item,
  title: string,
  posts: number | undefined,
  remove: (posts?: 'keep' | 'delete') => void,
  closed: () => void,
): ui.Html {
  const choice = (text: string, posts?: 'keep' | 'delete') =>
    html`<button class="bad" @click=${() => remove(posts)}>${text}</button>`;
  const isOwn = record.id === session.subject && session.has('posts:write:own');
  const asks = kind === 'users' && posts !== 0 && (isOwn || session.has('posts:write'));
  const those = posts === undefined ? 'the posts' : ui.countOf(posts, 'posts');
  const both = [choice('Delete, keep posts', 'keep'), choice('Delete with posts', 'delete')];
  return html`<dialog id="removal" aria-labelledby="removal-title" @close=${closed}>
    <h2 id="removal-title" tabindex="-1">Delete “${title}”?</h2>
    <p>This cannot be undone.${asks ? ` You can keep ${those} of this user, without an author, or delete them too.` : ''}</p>
    <form method="dialog" class="bar"><button class="primary" autofocus>Cancel</button> ${asks ? both : choice('Delete')}</form></dialog>`;
}
