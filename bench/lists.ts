import { openMongodbStore } from '../src/adapters/mongodb/index.ts';
import { openSqliteStore } from '../src/adapters/sqlite/index.ts';
import type { Condition, Post, Store } from '../src/ports/index.ts';
import type { Options } from './options.ts';
import { say, table } from './results.ts';
import { decimal, median } from './rounds.ts';
import type { Workspace } from './workspace.ts';

const posts = 100_000;
const limit = 50;
const repetitions = 40;
const declaredFields = { posts: { kind: 'text', views: 'number', tags: 'text[]' } } as const;

/**
 * Returns post number n. Ten posts have the tags `ten` and `ten more`, 1,000 each have `a` and `b`, and ten
 * have both.
 */
function postAt(n: number): Post {
  const isRare = n % (posts / 10) === 7;
  const at = new Date(1.7e12 + n * 1000).toISOString();
  const common = n % 100 === 1 ? ['a'] : n % 100 === 2 ? ['b'] : [];
  return {
    ...{ id: `p${String(n).padStart(7, '0')}`, title: `Post ${n}`, body: 'x'.repeat(500) },
    ...{ authorId: null, publishedAt: at, createdAt: at, updatedAt: at },
    kind: isRare ? 'rare' : `kind ${n % 100}`,
    ...(n % 10 !== 0 && { views: (n * 7919) % 20_000 }),
    tags: [`t${n % 1000}`, ...(isRare ? ['a', 'b', 'ten', 'ten more'] : common)],
  };
}

async function openStore(kind: string, url: string): Promise<Store> {
  if (kind === 'SQLite')
    return openSqliteStore({ path: url.slice('sqlite:'.length), declaredFields });
  const store = openMongodbStore({ url, declaredFields });
  await store.ready();
  return store;
}

const has = (value: string) =>
  ({ field: 'tags', declaredType: 'text[]', op: 'has', value }) as const;
const filters: Readonly<Record<string, readonly Condition[]>> = {
  'equality, 10 match': [{ field: 'kind', declaredType: 'text', op: 'eq', value: 'rare' }],
  'two tags, each on the same 10': [has('ten'), has('ten more')],
  'two tags, each on 1,000, 10 match': [has('a'), has('b')],
};

/**
 * Measures lists by declared fields with 100,000 posts, in the process of the store. Returns a Markdown table
 * with median times per page in milliseconds.
 */
export async function measureLists({ stores }: Options, workspace: Workspace): Promise<string> {
  const rows: string[][] = [];
  for (const kind of stores) {
    if (kind === 'memory' || !(await workspace.has(kind))) continue;
    say(`${kind}: adds ${posts} posts`);
    await using store = await openStore(kind, (await workspace.newStore(kind)) ?? '');
    for (let n = 0; n < posts; n += 500) {
      const part = Array.from({ length: 500 }, (_, i) => postAt(n + i));
      const records = part.map((record) => ({ record, version: 1, json: JSON.stringify(record) }));
      await store.transfer?.posts.load(records);
    }
    const time = async (query: object): Promise<string> => {
      const times: number[] = [];
      for (let i = 0; i < repetitions; i++) {
        const start = performance.now();
        await store.posts.list({ limit, bytes: 2 ** 21, conditions: [], ...query } as never);
        times.push(performance.now() - start);
      }
      return decimal(median(times), 2);
    };
    for (const direction of ['asc', 'desc'] as const) {
      const order = { field: 'views', declaredType: 'number', direction } as const;
      rows.push([kind, `by views, ${direction}, page 1`, await time({ order })]);
      // In the middle of the list, which starts with the 10,000 posts without a number.
      const key = direction === 'asc' ? 8879 : 8901;
      const after = { key, id: 'p' };
      rows.push([kind, `by views, ${direction}, page 1,000`, await time({ order, after })]);
    }
    const order = { field: 'createdAt', direction: 'desc' } as const;
    for (const [name, conditions] of Object.entries(filters)) {
      rows.push([kind, name, await time({ order, conditions })]);
    }
  }
  return table(['store', 'list', 'ms'], rows);
}
