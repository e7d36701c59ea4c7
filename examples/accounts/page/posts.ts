// Lists of the member's posts.

import type { PublicUser } from 'rostrum-client';
import { button } from './actions.ts';
import { badge, h, link } from './dom.ts';
import { account, api, type Post, type Query } from './session.ts';

export const linkTo = (...path: string[]) => `#/${path.map(encodeURIComponent).join('/')}`;

/** The page of a post for readers. */
export const addressOf = ({ id, slug }: Post) => `/posts/${encodeURIComponent(slug || id)}`;

export const isEditor = () => ['editor', 'admin'].includes(account?.role ?? '');

/** By the setting PUBLISH. The server checks this too. */
export const canPublish = () => isEditor() || document.body.dataset.publish === 'members';

/** The last changed posts, with a title. */
async function titled(title: string, query: Query): Promise<Node[]> {
  return [h('h1', {}, title), ...(await list({ ...query, sort: '-updatedAt' }))];
}

/** The posts of the person who is signed in, drafts included. */
export const mine = async () => [
  ...(await titled('My posts', { authorId: 'me' })),
  h('p', {}, link('#/write', 'Write a post', { className: 'button primary' })),
];

/** For editors. */
export const drafts = async () => [
  ...(await titled('Drafts', { publishedAt: null })),
  h('p', {}, link('#/all', 'All posts')),
];
export const all = () => titled('All posts', {});

/** One page of a list, with a button for the next one. */
async function list(query: Query): Promise<Node[]> {
  const rows = h('ul', { className: 'posts' });
  const none = h('p', { className: 'empty' }, 'There are no posts here yet.');
  let cursor: string | null = null;
  const add = async () => {
    const page = await api.posts.list({ ...query, include: 'author', limit: 10, cursor });
    rows.append(...page.items.map((post) => row(post, page.users)));
    cursor = page.next;
    none.hidden = rows.childElementCount > 0;
    more.hidden = cursor === null;
  };
  const more = button('More', add);
  await add();
  return [rows, none, more];
}

function row(post: Post, authors: readonly PublicUser[]): HTMLElement {
  return h('li', {}, h('h2', {}, link(linkTo('edit', post.id), post.title)), facts(post, authors));
}

/** The author, state and date of a post. */
function facts(post: Post, authors: readonly PublicUser[]): HTMLElement {
  const author = authors.find(({ id }) => id === post.authorId);
  const state = stateOf(post);
  return h(
    'p',
    { className: 'facts' },
    author?.name ?? 'Without an author',
    ...(state === undefined ? [] : [badge(state)]),
    ...(post.publishedAt === null ? [] : [dateOf(post.publishedAt)]),
    ...(state === undefined ? [link(addressOf(post), 'View')] : []),
  );
}

/** The state of a post that not everyone can see. */
export function stateOf({ publishedAt }: { readonly publishedAt: string | null }) {
  if (publishedAt === null) return 'Draft';
  return Date.parse(publishedAt) > Date.now() ? 'Scheduled' : undefined;
}

function dateOf(instant: string): HTMLElement {
  const hour = stateOf({ publishedAt: instant }) && ({ timeStyle: 'short' } as const);
  const text = new Date(instant).toLocaleString(undefined, { dateStyle: 'long', ...hour });
  return h('time', { dateTime: instant }, text);
}
