// Reads, lists, changes and deletes posts whose JSON is 1 MiB each, but which take 20 MiB as objects.
// large-records.slow.ts runs this with a connection string in a process with little memory.

import { fileURLToPath } from 'node:url';
import { openMongodbStore } from '../../../src/adapters/mongodb/index.ts';
import { pageLimits } from '../../../src/domain/lists/list.ts';
import { later, post, times, user } from '../../../src/testing/fixtures.ts';
import { node, type Outcome } from '../../support/process.ts';
import { untilServed } from '../../support/until.ts';

/** The number of posts of each of the two users. */
const posts = 10;

/** Each is the id of a user and the mode in which that user is deleted. */
const modes = ['keep', 'delete'] as const;

/** Runs this file with a heap of so many megabytes and returns its output. */
export function handleLargeRecords(url: string, megabytes: number): Promise<Outcome> {
  return node([`--max-old-space-size=${megabytes}`, fileURLToPath(import.meta.url), url]);
}

async function handleRecords(url: string): Promise<void> {
  await using store = openMongodbStore({ url });
  await untilServed(() => store.ready(), 30_000);
  const own = times(349_000, () => ({}));
  const ids = (author: string) => times(posts, (n) => `${author}${n}`);
  for (const id of modes) {
    await store.users.create(user({ id }));
    for (const one of ids(id)) await store.posts.create(post({ id: one, authorId: id, own }));
  }
  const order = { field: 'createdAt', direction: 'asc' } as const;
  const page = { conditions: [], order, limit: 20, bytes: pageLimits.bytes } as const;
  const single = await Promise.all(
    ids('keep').map(async (id) => (await store.posts.get(id))?.json.length),
  );
  const pages = await Promise.all(times(8, () => store.posts.list(page)));
  const titles = await store.posts.list({ ...page, fields: ['id', 'title'] });
  const deleted = [];
  for (const id of modes) deleted.push(await store.users.delete(id, id, later));
  const left = await store.posts.list({ ...page, total: true });
  console.log(
    JSON.stringify({
      single: single.filter((length) => length !== undefined && length > 1_000_000).length,
      pages: pages.map(({ items, next }) => items.length === 1 && next !== undefined),
      titles: titles.items.length,
      deleted,
      left: left.total,
    }),
  );
  console.error(`${Math.round(process.resourceUsage().maxRSS / 1024)} MiB at most`);
}

/** The output if everything works. */
export const expected = {
  single: posts,
  pages: times(8, () => true),
  titles: 20,
  deleted: modes.map(() => ({ posts })),
  left: posts,
};

if (process.argv[1] === import.meta.filename) await handleRecords(String(process.argv[2]));
