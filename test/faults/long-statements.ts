// How long others wait for the longest work that one request can ask of SQLite: pages that have to
// be sorted, and the deletion of a user with so many posts. Fails where anybody waits for over 2 s.
//
//   node test/faults/long-statements.ts [--posts 100000]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { postAt } from '../../bench/data.ts';
import { openSqliteStore } from '../../src/adapters/sqlite/index.ts';
import { VersionedRecord } from '../../src/domain/record.ts';
import { startServer } from '../support/server.ts';

const { values } = parseArgs({ options: { posts: { type: 'string', default: '100000' } } });
const count = Number(values.posts);
const mostMs = 2000;

/** Two users, each with so many posts; the posts of one share a title. */
async function fill(path: string): Promise<void> {
  await using store = openSqliteStore({ path });
  const { users, posts } = store.transfer ?? {};
  if (users === undefined || posts === undefined) throw new Error('There is no transfer.');
  const { createdAt, updatedAt } = postAt(0).record;
  for (const [n, id] of ['ann', 'bob'].entries()) {
    const user = { id, name: id, email: null, createdAt, updatedAt };
    await users.load([new VersionedRecord(user, 1)]);
    for (let from = 0; from < count; from += 1000) {
      const made = Array.from({ length: Math.min(1000, count - from) }, (_, i) => {
        const { record } = postAt(n * count + from + i);
        const title = n === 0 ? record.title : 'Untitled';
        return new VersionedRecord({ ...record, authorId: id, title }, 1);
      });
      await posts.load(made);
    }
  }
}

/** The longest time that somebody waits who asks all the time for little, in milliseconds. */
async function slowestOther(address: string, work: () => Promise<Response>): Promise<string> {
  let [slowest, isDone] = [0, false];
  const asking = (async () => {
    while (!isDone) {
      const start = performance.now();
      await (await fetch(`${address}/api/v1/users/bob`)).arrayBuffer();
      slowest = Math.max(slowest, performance.now() - start);
      await sleep(5);
    }
  })();
  await sleep(200);
  const start = performance.now();
  const { status } = await work();
  const ms = performance.now() - start;
  isDone = true;
  await asking;
  if (status !== 200 || slowest > mostMs) process.exitCode = 1;
  return `${status} in ${ms.toFixed(0)} ms; others waited for ${slowest.toFixed(0)} ms at most`;
}

const folder = mkdtempSync(join(tmpdir(), 'rostrum-long-'));
try {
  const path = join(folder, 'rostrum.db');
  await fill(path);
  await using server = await startServer('--store', `sqlite:${path}`);
  const { address } = server;
  const get = (query: string) => () => fetch(`${address}/api/v1/posts?${query}`);
  const remove = (id: string, mode: string) => () =>
    fetch(`${address}/api/v1/users/${id}?posts=${mode}`, { method: 'DELETE' });
  const works: readonly (readonly [name: string, work: () => Promise<Response>])[] = [
    ['page of an author by title', get('authorId=ann&sort=title&limit=20')],
    ['page of one title by time', get('title=Untitled&limit=20')],
    ['page of one title by change', get('title=Untitled&sort=updatedAt&limit=20')],
    ['total of an author', get('authorId=ann&limit=1&count=exact')],
    ['deletion that keeps the posts', remove('ann', 'keep')],
    ['deletion of the posts, too', remove('bob', 'delete')],
  ];
  for (const [name, work] of works) {
    console.log(`${name} (${count} posts): ${await slowestOther(address, work)}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
