// Reads, lists and deletes posts of 1 MiB each, as JSON, that are 20 MiB each as objects, in a process of
// little memory.
//
//   node test/faults/mongodb-large-records.ts [--posts 40] [--megabytes 640]

import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Db, MongoClient } from 'mongodb';
import { openMongodbStore } from '../../src/adapters/mongodb/index.ts';
import { toStoredPost, toStoredUser } from '../../src/adapters/mongodb/schema/documents.ts';
import { pageLimits } from '../../src/domain/list.ts';
import { later, post, times, user } from '../../src/testing/fixtures.ts';
import { findMongod } from '../support/mongod/binary.ts';
import { startReplicaSet, startStandalone } from '../support/mongod/servers.ts';
import { node, type Outcome } from '../support/process.ts';

export interface LargeRecords {
  /** Of each of two users. */
  readonly posts: number;
  /** What the process may have for objects. */
  readonly megabytes: number;
}

/** The same on a standalone server and on a replica set; nothing when there is no server. */
export async function readEverywhere(size: LargeRecords): Promise<Outcome[]> {
  const binary = await findMongod();
  const outcomes: Outcome[] = [];
  for (const start of [startStandalone, (path: string) => startReplicaSet(path, 1)]) {
    if (binary === undefined) break;
    await using server = await start(binary);
    outcomes.push(await readLargeRecords(size, server.url('large')));
  }
  return outcomes;
}

/** What a process with little memory makes of a database of large records. */
export async function readLargeRecords(
  { posts, megabytes }: LargeRecords,
  url: string,
): Promise<Outcome> {
  const client = await new MongoClient(url).connect();
  try {
    for (const author of modes) await fill(client.db(), author, posts);
  } finally {
    await client.close();
  }
  const script = fileURLToPath(import.meta.url);
  return node([`--max-old-space-size=${megabytes}`, script, '--posts', `${posts}`, url]);
}

// Each is the id of a user, and what becomes of their posts.
const modes = ['keep', 'delete'] as const;

async function fill(db: Db, author: string, count: number): Promise<void> {
  const [users, posts] = ['users', 'posts'].map((name) => db.collection<{ _id: string }>(name));
  await users?.insertOne(toStoredUser(user({ id: author }), 1));
  const own = times(349_000, () => ({}));
  await posts?.insertOne(toStoredPost(post({ id: author, authorId: author, own }), 1));
  // The server makes the others.
  const id = { $concat: [author, { $toString: '$n' }] };
  await posts
    ?.aggregate([
      { $match: { _id: author } },
      { $set: { n: { $range: [1, count] } } },
      { $unwind: '$n' },
      { $set: { _id: id, 'record.id': id, n: '$$REMOVE' } },
      { $merge: 'posts' },
    ])
    .toArray();
}

async function read(url: string, count: number): Promise<void> {
  await using store = openMongodbStore({ url });
  const order = { by: 'createdAt', direction: 'asc' } as const;
  const page = { filter: {}, order, limit: 20, bytes: pageLimits.bytes } as const;
  const ids = ['delete', ...times(count - 1, (n) => `delete${n + 1}`)];
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
export function expected(posts: number): string {
  const named = ['delete', posts, 'delete'];
  const whole = {
    single: posts,
    named,
    pages: times(4, () => true),
    deleted: [true, true],
    left: posts,
  };
  return `${JSON.stringify(whole)}\n`;
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      posts: { type: 'string', default: '40' },
      megabytes: { type: 'string', default: '640' },
    },
  });
  const [posts, megabytes] = [Number(values.posts), Number(values.megabytes)];
  const [url] = positionals;
  if (url !== undefined) {
    await read(url, posts);
  } else {
    const outcomes = await readEverywhere({ posts, megabytes });
    for (const { output } of outcomes) console.log(output);
    const isGood = outcomes.every(({ stdout }) => stdout === expected(posts));
    if (outcomes.length === 0 || !isGood) process.exitCode = 1;
  }
}
