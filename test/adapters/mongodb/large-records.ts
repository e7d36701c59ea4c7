import { collectionNames } from '../../../src/adapters/mongodb/schema/collections.ts';
// Reads, lists and deletes posts of 1 MiB each, as JSON, that are 20 MiB each as objects: a process of
// little memory, which large-records.test.ts starts with a URL.

import { fileURLToPath } from 'node:url';
import { type Db, MongoClient } from 'mongodb';
import { openMongodbStore } from '../../../src/adapters/mongodb/index.ts';
import { toStoredPost, toStoredUser } from '../../../src/adapters/mongodb/schema/documents.ts';
import { pageLimits } from '../../../src/domain/list.ts';
import { later, post, times, user } from '../../../src/testing/fixtures.ts';
import { node, type Outcome } from '../../support/process.ts';

/** Of each of two users. */
const posts = 10;

/** What a process makes of a database of large records that has so much for objects. */
export async function readLargeRecords(url: string, megabytes: number): Promise<Outcome> {
  const client = await new MongoClient(url).connect();
  try {
    for (const author of modes) await fill(client.db(), author);
  } finally {
    await client.close();
  }
  return node([`--max-old-space-size=${megabytes}`, fileURLToPath(import.meta.url), url]);
}

// Each is the id of a user, and what becomes of their posts.
const modes = ['keep', 'delete'] as const;

async function fill(db: Db, author: string): Promise<void> {
  const [users, made] = Object.values(collectionNames).map((name) =>
    db.collection<{ _id: string }>(name),
  );
  await users?.insertOne(toStoredUser(user({ id: author }), 1));
  const own = times(349_000, () => ({}));
  await made?.insertOne(toStoredPost(post({ id: author, authorId: author, own }), 1));
  // The server makes the others.
  const id = { $concat: [author, { $toString: '$n' }] };
  await made
    ?.aggregate([
      { $match: { _id: author } },
      { $set: { n: { $range: [1, posts] } } },
      { $unwind: '$n' },
      { $set: { _id: id, 'record.id': id, n: '$$REMOVE' } },
      { $merge: collectionNames.posts },
    ])
    .toArray();
}

async function read(url: string): Promise<void> {
  await using store = openMongodbStore({ url });
  const order = { by: 'createdAt', direction: 'asc' } as const;
  const page = { filter: {}, order, limit: 20, bytes: pageLimits.bytes } as const;
  const ids = ['delete', ...times(posts - 1, (n) => `delete${n + 1}`)];
  const single = await Promise.all(ids.map(async (id) => (await store.posts.get(id))?.json.length));
  const named = await store.posts.list({ ...page, filter: { ids }, limit: 1, total: true });
  const pages = await Promise.all(times(4, () => store.posts.list(page)));
  const deleted = [];
  for (const id of modes) deleted.push(await store.users.delete(id, id, later));
  const left = await store.posts.list({ ...page, filter: { authorId: null }, total: true });
  console.log(
    JSON.stringify({
      single: single.filter((length) => length !== undefined && length > 1_000_000).length,
      named: [named.items[0]?.record.id, named.total, named.next?.id],
      pages: pages.map(({ items, next }) => items.length === 2 && next !== undefined),
      deleted,
      left: left.total,
    }),
  );
  console.error(`${Math.round(process.resourceUsage().maxRSS / 1024)} MiB at most`);
}

/** What the process says when all is well. */
export const expected = {
  single: posts,
  named: ['delete', posts, 'delete'],
  pages: times(4, () => true),
  deleted: modes.map(() => ({ posts })),
  left: posts,
};

if (import.meta.main) await read(String(process.argv[2]));
