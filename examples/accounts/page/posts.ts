// Lists of posts, and a post.

import type { PublicUser } from 'rostrum-client';
import { button, onSubmit } from './actions.ts';
import { badge, h, input, link, submit } from './dom.ts';
import { account, api, type Post, type Query } from './session.ts';

export const linkTo = (...path: string[]) => `#/${path.map(encodeURIComponent).join('/')}`;

export const addressOf = ({ id, slug }: Post) => linkTo('posts', slug ?? id);

export const isEditor = () => ['editor', 'admin'].includes(account?.role ?? '');

/** What readers see, newest first. Editors see the posts of everyone, so they leave out what is not public. */
const published = (): Query => ({
  sort: '-publishedAt',
  ...(isEditor() && { publishedAt: { lte: new Date() } }),
});

/** The newest posts; with a tag, or a beginning of a title, those that have it. */
export async function home(_: string, query: URLSearchParams): Promise<Node[]> {
  const [tag, start] = [query.get('tag') ?? '', query.get('q') ?? ''];
  const search = onSubmit(
    h(
      'form',
      { className: 'search', role: 'search' },
      h(
        'label',
        {},
        'Title starts with',
        input('q', { type: 'search', value: start, maxLength: 200 }),
      ),
      submit('Search', { className: '' }),
    ),
    async ({ q = '' }) => {
      location.hash = q.trim() === '' ? '#/' : `#/?${new URLSearchParams({ q: q.trim() })}`;
    },
  );
  const filter = {
    ...(tag !== '' && { tags: tag }),
    ...(start !== '' && { title: { startsWith: start } }),
  };
  const heading = h('h1', {}, tag === '' ? 'Posts' : `Posts about ${tag}`);
  return [heading, search, ...(await list({ ...published(), ...filter }))];
}

/** The posts of the person who is signed in, drafts included. */
export async function mine(): Promise<Node[]> {
  return [
    h('h1', {}, 'My posts'),
    ...(await list({ authorId: 'me', sort: '-updatedAt' })),
    h('p', {}, link('#/write', 'Write a post', { className: 'button primary' })),
  ];
}

/** The drafts of everyone, for editors. */
export async function drafts(): Promise<Node[]> {
  return [h('h1', {}, 'Drafts'), ...(await list({ publishedAt: null, sort: '-updatedAt' }))];
}

/** What everyone can see of a user. */
export async function author(id: string): Promise<Node[]> {
  const { record } = await api.users.get(id);
  return [
    h('h1', {}, record.name),
    ...paragraphs(record.about ?? ''),
    ...(await list({ ...published(), authorId: id })),
  ];
}

/** Shows a post by its slug, or by its id if it has no slug. */
export async function post(slugOrId: string): Promise<Node[]> {
  const find = (query: Query) => api.posts.list({ ...query, include: 'author' });
  let { items, users } = await find({ slug: slugOrId });
  if (items.length === 0) ({ items, users } = await find({ id: slugOrId }));
  const [found] = items;
  if (found === undefined) return [h('h1', {}, 'There is no such post')];
  const canEdit = account !== undefined && (isEditor() || found.authorId === account.id);
  return [
    h(
      'article',
      {},
      h('h1', {}, found.title),
      facts(found, users),
      ...paragraphs(found.body),
      ...(canEdit ? [h('p', {}, link(linkTo('edit', found.id), 'Edit'))] : []),
    ),
  ];
}

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
  const isPublic = stateOf(post) === undefined;
  const href = isPublic ? addressOf(post) : linkTo('edit', post.id);
  return h('li', {}, h('h2', {}, link(href, post.title)), facts(post, authors), excerpt(post.body));
}

/** Who wrote a post, and when; its state, if not everyone can see it; and its tags. */
function facts(post: Post, authors: readonly PublicUser[]): HTMLElement {
  const author = authors.find(({ id }) => id === post.authorId);
  const state = stateOf(post);
  return h(
    'p',
    { className: 'facts' },
    author ? link(linkTo('authors', author.id), author.name) : 'Without an author',
    state === undefined ? dateOf(post.publishedAt ?? '') : badge(state),
    ...(post.tags ?? []).map((tag) => link(`#/?${new URLSearchParams({ tag })}`, `#${tag}`)),
  );
}

/** The state of a post that not everyone can see. */
export function stateOf({ publishedAt }: { readonly publishedAt: string | null }) {
  if (publishedAt === null) return 'Draft';
  return Date.parse(publishedAt) > Date.now() ? 'Scheduled' : undefined;
}

const dateOf = (instant: string) =>
  h(
    'time',
    { dateTime: instant },
    new Date(instant).toLocaleDateString(undefined, { dateStyle: 'long' }),
  );

const excerpt = (body: string) =>
  h('p', {}, body.length > 240 ? `${body.slice(0, 240).replace(/\s+\S*$/, '')} …` : body);

const paragraphs = (text: string) =>
  text.split(/\n{2,}/).map((paragraph) => h('p', { className: 'text' }, paragraph));
