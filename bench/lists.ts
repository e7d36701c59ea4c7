import { openMongodbStore } from '../src/adapters/mongodb/index.ts';
import { openSqliteStore } from '../src/adapters/sqlite/index.ts';
import { textKey } from '../src/domain/records/text.ts';
import { createRostrum } from '../src/index.ts';
import type { Post, Store, User } from '../src/ports/index.ts';
import type { Options } from './options.ts';
import { say, table } from './results.ts';
import { decimal, median } from './rounds.ts';
import type { Workspace } from './workspace.ts';

const limit = 20;
/** Calls of each list, or as many as take three seconds. */
const [calls, boundMs] = [20, 3000];
/** Records before page 1,000. */
const depth = 999 * limit;

const declaredFields = {
  posts: { slug: { type: 'text', unique: true }, kind: 'text', views: 'number', tags: 'text[]' },
} as const;
const words = { kind: 'kind 7', tag: 'news', other: 'tech', rare: 'rare' };

const instant = (n: number) => new Date(1.6e12 + n * 1000).toISOString();

/**
 * Returns post number n. A tenth has no author, and of the others, each author has a hundredth. A fiftieth is not
 * published. A quarter has the tag `news`, a third `tech`, and ten posts have `rare`.
 */
function postAt(n: number, posts: number): Post {
  const isRare = n % (posts / 10) === 9;
  const tags = [n % 4 === 1 && words.tag, n % 3 === 0 && words.other, isRare && words.rare];
  return {
    ...{ id: `p${String(n).padStart(7, '0')}`, body: 'x'.repeat(500) },
    title: `Post ${(n * 7919) % posts}`,
    authorId: n % 10 === 3 ? null : `u${n % 100}`,
    publishedAt: n % 50 === 0 ? null : instant(n),
    ...{ createdAt: instant(n), updatedAt: instant((n * 7919) % posts) },
    ...{ slug: `post-${n}`, kind: `kind ${n % 100}` },
    ...(n % 10 !== 0 && { views: (n * 7919) % 20_000 }),
    tags: [`t${n % 1000}`, ...tags.filter((tag) => tag !== false)],
  };
}

function userAt(n: number): User {
  const times = { createdAt: instant(n), updatedAt: instant(n) };
  return { id: `u${n}`, name: `User ${(n * 31) % 1000}`, email: `u${n}@example.com`, ...times };
}

interface List {
  readonly of?: 'users';
  readonly filter?: object;
  /** By default `createdAt`. */
  readonly by?: string;
  readonly total?: true;
  /** The posts that match, if page 1,000 is measured too. */
  readonly matches?: (post: Post) => boolean;
}

/** Each filter and sort of docs/http.md and docs/custom-fields.md, alone and in combinations that need other plans. */
function listsOver(posts: number): Record<string, List> {
  const half = instant(posts / 2);
  const all = () => true;
  const isAnonymous = ({ authorId }: Post) => authorId === null;
  const has = (tag: string) => (post: Post) => (post.tags as string[]).includes(tag);
  return {
    'users by createdAt': { of: 'users' },
    'users by updatedAt': { of: 'users', by: 'updatedAt' },
    'users by name': { of: 'users', by: 'name' },
    'users by email': { of: 'users', by: 'email' },
    'users, email': { of: 'users', filter: { email: 'u7@example.com' } },
    'users, name': { of: 'users', filter: { name: 'user 7' } },
    'users, name starts with': { of: 'users', filter: { nameStartsWith: 'user 1' } },
    'users, createdAt, by name': { of: 'users', filter: { createdAt: { from: half } }, by: 'name' },
    'by createdAt': { matches: all },
    'by updatedAt': { by: 'updatedAt', matches: all },
    'by title': { by: 'title', matches: all },
    'by publishedAt': { by: 'publishedAt', matches: all },
    author: { filter: { authorId: 'u7' } },
    'author, by publishedAt': { filter: { authorId: 'u7' }, by: 'publishedAt' },
    'author, by title': { filter: { authorId: 'u7' }, by: 'title' },
    'author, counted': { filter: { authorId: 'u7' }, total: true },
    'no author': { filter: { authorId: null }, ...(posts > 200_000 && { matches: isAnonymous }) },
    'no author, by title': { filter: { authorId: null }, by: 'title' },
    title: { filter: { title: 'post 7' } },
    'title starts with, by title': { filter: { titleStartsWith: 'post 1' }, by: 'title' },
    'title starts with': { filter: { titleStartsWith: 'post 1' } },
    createdAt: {
      filter: { createdAt: { before: half } },
      matches: ({ createdAt }) => createdAt < half,
    },
    'createdAt, by title': { filter: { createdAt: { before: half } }, by: 'title' },
    updatedAt: { filter: { updatedAt: { from: half } } },
    'publishedAt, by publishedAt': {
      ...{ filter: { publishedAt: { before: half } }, by: 'publishedAt' },
      matches: ({ publishedAt }) => publishedAt !== null && publishedAt < half,
    },
    drafts: { filter: { publishedAt: null } },
    '100 ids': { filter: { ids: Array.from({ length: 100 }, (_, n) => postAt(n, posts).id) } },
    'unique text': { filter: { slug: 'post-7' } },
    'declared text': { filter: { kind: words.kind } },
    'declared number, by it': {
      ...{ filter: { views: { from: 100 } }, by: 'views' },
      matches: ({ views }) => typeof views === 'number' && views >= 100,
    },
    'declared number': { filter: { views: { from: 100 } } },
    'a common tag': { filter: { tags: words.tag }, matches: has(words.tag) },
    'a common tag, by title': { filter: { tags: words.tag }, by: 'title' },
    'a common tag, counted': { filter: { tags: words.tag }, total: true },
    'a rare tag': { filter: { tags: words.rare } },
    'two common tags': { filter: { tags: [words.tag, words.other] } },
    'a rare and a common tag': { filter: { tags: [words.rare, words.tag] } },
    '64 tags': {
      filter: { tags: [words.tag, ...Array.from({ length: 63 }, (_, n) => `t${n}`)] },
    },
    'a number that few posts have, by title': {
      filter: { views: { from: 19_990 }, updatedAt: { from: half } },
      by: 'title',
    },
    'a common tag and a declared number': { filter: { tags: words.tag, views: { from: 1 } } },
  };
}

/** Returns the position after the record before page 1,000, in descending order. */
function positionAt(posts: number, { by = 'createdAt', matches }: List) {
  if (matches === undefined) return undefined;
  const positions: { key: string | number; id: string }[] = [];
  for (let n = 0; n < posts; n++) {
    const post = postAt(n, posts);
    const key = by === 'title' ? textKey(post.title) : post[by as 'createdAt'];
    if (matches(post) && key !== null) positions.push({ key, id: post.id });
  }
  const descending = positions.sort((a, b) =>
    a.key === b.key ? compare(b.id, a.id) : compare(b.key, a.key),
  );
  return descending[depth - 1];
}

const compare = <T extends string | number>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0);

async function openStore(kind: string, url: string): Promise<Store> {
  if (kind === 'SQLite')
    return openSqliteStore({ path: url.slice('sqlite:'.length), declaredFields });
  const store = openMongodbStore({ url, declaredFields });
  await store.ready();
  return store;
}

async function fill({ transfer }: Store, posts: number): Promise<void> {
  const versioned = <R>(record: R) => ({ record, version: 1, json: JSON.stringify(record) });
  const batch = 500;
  const users = Array.from({ length: posts / 100 }, (_, n) => versioned(userAt(n)));
  for (let n = 0; n < users.length; n += batch)
    await transfer?.users.load(users.slice(n, n + batch));
  for (let n = 0; n < posts; n += batch) {
    const part = Array.from({ length: batch }, (_, i) => versioned(postAt(n + i, posts)));
    await transfer?.posts.load(part);
    if (n % 100_000 === 0) say(`${n} of ${posts} posts are loaded`);
  }
}

/** Runs a function several times. Returns the median time, and the longest time that the event loop was held. */
async function timed(run: () => Promise<unknown>): Promise<{ ms: number; heldMs: number }> {
  const times: number[] = [];
  let [isOver, heldMs] = [false, 0];
  let last = performance.now();
  const watch = () => {
    const now = performance.now();
    heldMs = Math.max(heldMs, now - last);
    last = now;
    if (!isOver) setImmediate(watch);
  };
  watch();
  await run(); // The first one compiles statements.
  heldMs = 0;
  const end = performance.now() + boundMs;
  for (let n = 0; n < calls && performance.now() < end; n++) {
    const start = performance.now();
    await run();
    times.push(performance.now() - start);
    await new Promise(setImmediate);
  }
  isOver = true;
  return { ms: median(times), heldMs };
}

/**
 * Measures lists in the process of the store. Returns a Markdown table with the median times of the first page and of
 * page 1,000, and the longest time that a page held the event loop, in milliseconds.
 */
export async function measureLists(
  { stores, posts }: Options,
  workspace: Workspace,
): Promise<string> {
  const rows: string[][] = [];
  // Found first, because the garbage of it would hold the event loop later.
  const lists = Object.entries(listsOver(posts)).map(([name, list]) => ({
    name,
    list,
    position: positionAt(posts, list),
  }));
  for (const kind of stores) {
    if (kind === 'memory' || !(await workspace.has(kind))) continue;
    await using store = await openStore(kind, (await workspace.newStore(kind)) ?? '');
    await fill(store, posts);
    const rostrum = createRostrum(store);
    for (const { name, list, position } of lists) {
      const { of = 'posts', filter, by = 'createdAt', total } = list;
      const request = { filter, order: { by, direction: 'desc' }, limit, total };
      const read = (after?: object) => () =>
        rostrum[of].list({ ...request, after } as Parameters<typeof rostrum.posts.list>[0]);
      const first = await timed(read());
      const later = position && (await timed(read(position)));
      const held = Math.max(first.heldMs, later?.heldMs ?? 0);
      const ms = (value: number | undefined) => (value === undefined ? '' : decimal(value, 1));
      rows.push([kind, name, ms(first.ms), ms(later?.ms), ms(held)]);
    }
  }
  return table(['store', 'list', 'page 1', 'page 1,000', 'longest hold'], rows);
}
