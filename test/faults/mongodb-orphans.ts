// Two processes create and delete the same users and their posts on one database. Afterwards, no post may have
// an author that does not exist, and no post may be lost. As a control, the same race with an injected fault
// must leave orphans.
//
//   node test/faults/mongodb-orphans.ts [--users 10000] [--control-users 500]

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { MongoClient } from 'mongodb';
import { openMongodbStore } from '../../src/adapters/mongodb/index.ts';
import { isRostrumError } from '../../src/domain/errors.ts';
import type { DeleteMode } from '../../src/ports/user-repository.ts';
import { later, post, times, user } from '../../src/testing/fixtures.ts';
import { findMongod } from '../support/mongod/binary.ts';
import { startReplicaSet } from '../support/mongod/servers.ts';
import { untilServed } from '../support/until.ts';
import { countOrphans, plantUnchangedTouch } from './orphan-race.ts';

/** The number of users that both processes work on concurrently. */
const batch = 50;

const { values } = parseArgs({
  options: {
    users: { type: 'string', default: '10000' },
    'control-users': { type: 'string', default: '500' },
    worker: { type: 'string' },
    planted: { type: 'boolean', default: false },
  },
});

if (values.worker !== undefined) await work(values.worker, values.planted);
else await raceAll();

async function raceAll(): Promise<void> {
  const binary = await findMongod();
  if (binary === undefined) process.exit(1);
  await using set = await startReplicaSet(binary, 1);
  const report = await race(set.url('orphans'), Number(values.users), false);
  console.log(report);
  const control = await race(set.url('control'), Number(values['control-users']), true);
  console.log({ control });
  if (report.orphans + report.lost + report.odd.length > 0 || control.orphans === 0) {
    process.exitCode = 1;
  }
}

interface Done {
  readonly created: number;
  readonly deleted: number;
  /** Acknowledged posts that were not deleted. */
  readonly kept: readonly string[];
  readonly odd: readonly string[];
}

async function race(url: string, users: number, planted: boolean) {
  const args = ['--worker', url, ...(planted ? ['--planted'] : [])];
  const workers = times(2, () => fork(import.meta.filename, args));
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const total = { users, created: 0, deleted: 0, lost: 0, orphans: 0, odd: [] as string[] };
  const client = await new MongoClient(url).connect();
  const db = client.db();
  for (let first = 0; first < users; first += batch) {
    for (const done of await Promise.all(workers.map((worker) => ask(worker, first)))) {
      total.created += done.created;
      total.deleted += done.deleted;
      total.odd.push(...done.odd);
      const ids = { _id: { $in: [...done.kept] } };
      const found = await db.collection<{ _id: string }>('posts').countDocuments(ids);
      total.lost += done.kept.length - found;
    }
  }
  total.orphans = await countOrphans(db);
  await client.close();
  for (const worker of workers) worker.disconnect();
  return total;
}

async function ask(worker: ChildProcess, first: number): Promise<Done> {
  worker.send(first);
  const [done] = await once(worker, 'message');
  return done as Done;
}

async function work(url: string, planted: boolean): Promise<void> {
  if (planted) plantUnchangedTouch();
  const store = openMongodbStore({ url });
  await untilServed(() => store.ready(), 30_000);
  process.send?.('ready');
  process.on('disconnect', () => void store.close());
  process.on('message', async (first: number) => {
    const done = { created: 0, deleted: 0, kept: [] as string[], odd: [] as string[] };
    await Promise.all(times(batch, (n) => live(`u${first + n}`, n)));
    process.send?.(done);

    /** Creates a user with posts while the other process does the same. Keeps all posts of every third user. */
    async function live(authorId: string, n: number): Promise<void> {
      const modes: readonly DeleteMode[] = n % 3 === 0 ? ['refuse', 'keep'] : ['keep', 'delete'];
      await attempt(() => store.users.create(user({ id: authorId, email: null })));
      const mine = times(3, () =>
        post({ id: `${authorId} ${process.pid} ${Math.random()}`, authorId }),
      );
      const creations = mine.map((record) =>
        attempt(async () => {
          await store.posts.create(record);
          done.created += 1;
          if (n % 3 === 0) done.kept.push(record.id);
        }),
      );
      const deletions = modes.map((mode) =>
        attempt(async () => {
          if (await store.users.delete(authorId, mode, later)) done.deleted += 1;
        }),
      );
      await Promise.all([...creations, ...deletions]);
    }

    async function attempt(call: () => Promise<unknown>): Promise<void> {
      try {
        await call();
      } catch (error) {
        const expected = ['id-taken', 'invalid-record', 'user-has-posts'];
        if (!isRostrumError(error) || !expected.includes(error.code)) done.odd.push(String(error));
      }
    }
  });
}
