import {
  newestFirst,
  type Order,
  type Position,
  type PostFilter,
  type PostSort,
  pageLimits,
  postSorts,
} from '../src/domain/list.ts';
import { VersionedRecord } from '../src/domain/record.ts';
import { isRostrumError, type Store, type Versioned } from '../src/index.ts';
import { authorAt, authorsOf, postAt } from './data.ts';
import type { Options } from './options.ts';
import { say } from './progress.ts';
import { type Report, table } from './results.ts';
import { interleave, median, ratios, type Series, spread } from './rounds.ts';
import { open, type StoreKind, type Workspace } from './workspace.ts';

const few = 1000;
const limit = 20;
const { bytes } = pageLimits;

/** Every 40th post has this slug, and so more than a page of them in a store of any size. */
const slug = 'hello';
const customFilters = { posts: { slug: 'text' } } as const;

/** For how long one contestant reads its page over and over. */
const turnMs = 60;

/** Records in one call of `load`, and in a page on the way to a deep one. */
const batch = 1000;

const sizes = ['small', 'large'] as const;

interface List {
  readonly order: Order<PostSort>;
  readonly filter?: PostFilter;
}

interface Row extends Readonly<Record<(typeof sizes)[number], Series>> {
  readonly store: StoreKind;
  readonly sort: string;
  readonly page: string;
}

/** Whether a page costs the same in a store of any size, at any depth, in any order. */
export async function measurePages(options: Options, workspace: Workspace): Promise<Report> {
  const { many, rounds } = options;
  const deep = many / 5;
  // The last page has nothing behind it to find, so the deep one of the small store is before it.
  const depths = [
    { page: 'first', small: 0, large: 0 },
    { page: `${few / limit - 1} / ${deep / limit}`, small: few - 2 * limit, large: deep - limit },
  ];
  const rows: Row[] = [];
  for (const store of options.stores) {
    if (store === 'memory') continue;
    const urls = [await workspace.newStore(store), await workspace.newStore(store)];
    if (urls[0] === undefined || urls[1] === undefined) continue;
    await using small = await open(urls[0], { customFilters });
    await using large = await open(urls[1], { customFilters });
    await fill(small, few);
    await fill(large, many);
    for (const order of postSorts.flatMap(bothWays)) {
      const sort = `${order.direction === 'desc' ? '-' : ''}${order.by}`;
      for (const { page, ...skip } of depths) {
        say(`pages: ${store}, ${sort}, page ${page}`);
        const read = {
          small: await reader(small, { order }, skip.small),
          large: await reader(large, { order }, skip.large),
        };
        const times = await interleave(rounds, sizes, (size) => read[size]());
        rows.push({ store, sort, page, small: times.small.ms, large: times.large.ms });
      }
    }
    say(`pages: ${store}, slug=${slug}`);
    const list = { order: newestFirst, filter: { custom: { slug } } };
    const read = { small: await reader(small, list), large: await reader(large, list) };
    const times = await interleave(rounds, sizes, (size) => read[size]());
    const row = { sort: '-createdAt', page: `slug=${slug}` };
    rows.push({ store, ...row, small: times.small.ms, large: times.large.ms });
  }
  const head = ['store', 'sort', 'page', ...[few, many].map(count), 'large / small'];
  const body = rows.map(({ store, sort, page, small, large }) => {
    const figures = [spread(small, 3), spread(large, 3), spread(ratios(large, small), 2)];
    return [store, sort, page, ...figures];
  });
  const text = `Milliseconds for a page of ${limit} posts, by the size of the store:`;
  return { markdown: `${text}\n\n${table(head, body)}`, data: { pages: rows } };
}

function bothWays(by: PostSort): Order<PostSort>[] {
  return [
    { by, direction: 'asc' },
    { by, direction: 'desc' },
  ];
}

/**
 * Walks to a page; what it returns reads that again and again, one read after another, for the
 * median time of a read: on a busy machine some of many reads have to wait.
 */
async function reader({ posts }: Store, { order, filter = {} }: List, skip = 0) {
  let after: Position | undefined;
  for (let left = skip; left > 0; left -= batch) {
    const step = Math.min(left, batch);
    after = (await posts.list({ filter, order, limit: step, bytes, after })).next;
    if (after === undefined) throw new Error('The store has fewer posts than that.');
  }
  return async () => {
    const times: number[] = [];
    const end = performance.now() + turnMs;
    for (let now = performance.now(); now < end; ) {
      const start = now;
      await posts.list({ filter, order, limit, bytes, after });
      now = performance.now();
      times.push(now - start);
    }
    return { ms: median(times) };
  };
}

/** Puts the first posts of the data into an empty store, and their authors. */
async function fill({ transfer }: Store, posts: number): Promise<void> {
  if (transfer === undefined) throw new Error('The store has no transfer.');
  await load(transfer.users, authorsOf(posts), authorAt);
  await load(transfer.posts, posts, (n) => {
    const own = { slug: n % 40 === 0 ? slug : `post-${n}` };
    return new VersionedRecord({ ...postAt(n).record, ...own }, 1);
  });
}

/** Several calls at a time, so that the store need not wait for the next records. */
async function load<T>(
  to: { load(records: readonly Versioned<T>[]): Promise<void> },
  total: number,
  make: (n: number) => Versioned<T>,
): Promise<void> {
  let next = 0;
  async function work(): Promise<void> {
    while (next < total) {
      const first = next;
      next = Math.min(first + batch, total);
      if (first % 50_000 === 0) say(`pages: filling a store, ${count(first)} of ${count(total)}`);
      await loadPatiently(
        to,
        Array.from({ length: next - first }, (_, i) => make(first + i)),
      );
    }
  }
  await Promise.all([work(), work(), work(), work()]);
}

/** On a busy machine a batch may last longer than a store waits; one that is there stays as it is. */
async function loadPatiently<T>(
  to: { load(records: readonly Versioned<T>[]): Promise<void> },
  records: readonly Versioned<T>[],
): Promise<void> {
  for (;;) {
    try {
      return await to.load(records);
    } catch (error) {
      if (!isRostrumError(error, 'store-unavailable')) throw error;
    }
  }
}

function count(records: number): string {
  return records.toLocaleString('en');
}
