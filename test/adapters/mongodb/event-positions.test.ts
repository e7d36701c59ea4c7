import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { openMongodbStore } from '../../../src/adapters/mongodb/index.ts';
import { isRostrumError } from '../../../src/domain/errors.ts';
import type { EventLog } from '../../../src/ports/event-log.ts';
import type { Store } from '../../../src/ports/store.ts';
import { post, times, user } from '../../../src/testing/fixtures.ts';
import { errorOf } from '../../support/error-of.ts';
import { findMongod } from '../../support/mongod/binary.ts';
import { startReplicaSet, type TestServer } from '../../support/mongod/servers.ts';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { until, untilServed } from '../../support/until.ts';
import { useDatabase } from './store-on.ts';

await describeOnMongodb('event positions on MongoDB', () => {
  const database = useDatabase();

  before('create the indexes', async function () {
    this.timeout(60_000);
    const store = database.open();
    await untilServed(() => store.ready(), 50_000);
  });

  it('are expired if any character is changed', async () => {
    const log = logOf(database.open());
    const { next } = await log.read(1);
    for (let n = 0; n < next.length; n++) {
      const other = next[n] === 'A' ? 'B' : 'A';
      const changed = `${next.slice(0, n)}${other}${next.slice(n + 1)}`;
      expect(await codeOf(log.read(1, changed)), changed).to.equal('events-expired');
    }
    expect(await log.read(1, next)).to.have.property('events').that.is.empty;
  });

  it('are expired after the log document was deleted, as by a restore', async () => {
    const log = logOf(database.open());
    const { next } = await log.read(1);
    const meta = database.db.collection<{ _id: string }>('rostrum');
    expect(await meta.deleteOne({ _id: 'log' })).to.have.property('deletedCount', 1);
    expect(await codeOf(log.read(1, next))).to.equal('events-expired');
    expect((await log.read(1, (await log.read(1)).next)).events).to.deep.equal([]);
  });

  it('belong to one log, even if several processes create it at once', async () => {
    const meta = database.db.collection<{ _id: string }>('rostrum');
    await meta.deleteOne({ _id: 'log' });
    const logs = times(5, () => logOf(database.open()));
    const pages = await Promise.all(logs.map((log) => log.read(1)));
    for (const { next } of pages) {
      for (const log of logs) expect((await log.read(1, next)).events).to.deep.equal([]);
    }
  });

  it('are expired after a collection was dropped, renamed or replaced, as by a restore', async () => {
    const log = logOf(database.open());
    await database.open().posts.create(post());
    const { next } = await log.read(1);
    await database.db.collection('posts').rename('away');
    const { next: between } = await log.read(1);
    await database.db.collection('away').rename('posts');
    expect(await codeOf(log.read(1, next))).to.equal('events-expired');
    expect(await codeOf(log.read(1, between))).to.equal('events-expired');
    const { next: after } = await log.read(1);
    expect((await log.read(1, after)).events).to.deep.equal([]);
    await database.db.collection('users').drop();
    expect(await codeOf(log.read(1, after))).to.equal('events-expired');
  });

  it('cover every change that a list read afterwards does not contain', async function () {
    this.timeout(60_000);
    const store = database.open();
    await store.ready();
    const ids: string[] = [];
    let isOver = false;
    const writers = times(8, async () => {
      while (!isOver) {
        const record = user();
        await store.users.create(record);
        ids.push(record.id);
      }
    });
    const begun: (readonly [string, Set<string>])[] = [];
    for (let n = 0; n < 30; n++) {
      const { next } = await logOf(store).read(1);
      begun.push([next, await idsOf(store)]);
    }
    isOver = true;
    await Promise.all(writers);
    for (const [start, listed] of begun) {
      for (const id of await idsBehind(logOf(store), start)) listed.add(id);
      expect(ids.filter((id) => !listed.has(id))).to.deep.equal([]);
    }
  });
});

describe('event positions on a MongoDB server with failures', () => {
  let set: TestServer;
  let client: MongoClient;
  let store: Store;

  before(async function start() {
    this.timeout(60_000);
    const binary = await findMongod();
    if (binary === undefined) this.skip();
    // An oplog of 1 MiB, which the server truncates after each checkpoint, and injected errors.
    const more = ['--oplogSize', '1', '--syncdelay', '1', '--setParameter', 'enableTestCommands=1'];
    set = await startReplicaSet(binary, 1, false, more);
    client = await new MongoClient(set.url('moved')).connect();
    store = openMongodbStore({ url: set.url('moved') });
    await untilServed(() => store.ready(), 30_000);
  });

  after(async () => {
    await store?.close();
    await client?.close();
    await set?.[Symbol.asyncDispose]();
  });

  /** Makes the next aggregations fail. */
  const failNext = (errorCode: number, count: number) =>
    client.db('admin').command({
      configureFailPoint: 'failCommand',
      mode: { times: count },
      data: { failCommands: ['aggregate'], errorCode },
    });

  it('work after a retry if the primary steps down during a read', async () => {
    const log = logOf(store);
    const { next } = await log.read(1);
    await store.users.create(user());
    await failNext(10_107, 1);
    expect((await log.read(1, next)).events).to.have.lengthOf(1);
  });

  it('are expired if only their read times out, and unavailable if every read does', async () => {
    const log = logOf(store);
    const { next } = await log.read(1);
    await failNext(50, 1);
    expect(await codeOf(log.read(1, next))).to.equal('events-expired');
    await failNext(50, 2);
    expect(await codeOf(log.read(1, next))).to.equal('store-unavailable');
    await failNext(50, 1);
    expect(await codeOf(log.read(1))).to.equal('store-unavailable');
    expect((await log.read(1, next)).events).to.deep.equal([]);
  });

  it('are expired after they fell off the oplog', async function () {
    this.timeout(90_000);
    const log = logOf(store);
    const { next } = await log.read(1);
    await store.users.create(user());
    expect((await log.read(1, next)).events).to.have.lengthOf(1);
    await until(
      async () => {
        const body = 'x'.repeat(100_000);
        await Promise.all(times(20, () => store.posts.create(post({ body }))));
        await sleep(500);
        return (await codeOf(log.read(1, next))) === 'events-expired';
      },
      'the position is expired',
      60_000,
    );
    const { next: later } = await log.read(1);
    await store.users.create(user());
    expect((await log.read(1, later)).events).to.have.lengthOf(1);
  });
});

async function codeOf(call: Promise<unknown>): Promise<unknown> {
  const error = await errorOf(call);
  return isRostrumError(error) ? error.code : error;
}

function logOf({ events }: Store): EventLog {
  if (events === undefined) throw new Error('The store has no log.');
  return events;
}

async function idsOf({ users }: Store): Promise<Set<string>> {
  const order = { field: 'createdAt', direction: 'asc' } as const;
  const page = await users.list({ conditions: [], order, limit: 100_000, bytes: 2 ** 26 });
  return new Set(page.items.map(({ record }) => record.id));
}

async function idsBehind(log: EventLog, start: string): Promise<string[]> {
  const ids: string[] = [];
  for (let page = await log.read(1000, start); page.events.length > 0; ) {
    ids.push(...page.events.map(({ id }) => id));
    page = await log.read(1000, page.next);
  }
  return ids;
}
