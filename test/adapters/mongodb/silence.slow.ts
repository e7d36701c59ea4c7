import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { MongoClient, MongoNetworkError } from 'mongodb';
import { Call, Primary } from '../../../src/adapters/mongodb/connection/call.ts';
import { Connection } from '../../../src/adapters/mongodb/connection/connection.ts';
import { readUrl } from '../../../src/adapters/mongodb/connection/connection-string.ts';
import { CreationBatcher } from '../../../src/adapters/mongodb/creation-batcher.ts';
import { type MongodbStore, openMongodbStore } from '../../../src/adapters/mongodb/index.ts';
import { limits } from '../../../src/adapters/mongodb/limits.ts';
import {
  MongodbPostRepository,
  MongodbUserRepository,
} from '../../../src/adapters/mongodb/repository.ts';
import { isRostrumError } from '../../../src/domain/errors.ts';
import { safeLogger } from '../../../src/ports/logger.ts';
import { at, newReceipt, post, times, user } from '../../../src/testing/fixtures.ts';
import { errorOf } from '../../support/error-of.ts';
import { describeOnMongodb, sharedServer } from '../../support/mongod/shared.ts';
import { SilentProxy } from '../../support/mongod/silent-proxy.ts';
import { until, untilServed } from '../../support/until.ts';

// A connection that is accepted but never answered is the failure for which drivers wait longest.
const bound = limits.callMs + 4000;

const query = {
  conditions: [],
  order: { field: 'createdAt', direction: 'asc' },
  limit: 10,
  bytes: 10_000,
  total: true,
} as const;

describe('a MongoDB server that accepts connections but never responds', () => {
  it('makes every call fail in time', async function () {
    this.timeout(60_000);
    await using proxy = await SilentProxy.start();
    const store = openMongodbStore({ url: `mongodb://127.0.0.1:${proxy.port}/x` });
    await allEndInTime(everyCall(store, 'x', 'y'));
    await endsInTime(store.close());
  });

  it('makes calls beyond the limit fail as overloaded, and ready() as unavailable', async () => {
    await using proxy = await SilentProxy.start();
    await using store = openMongodbStore({ url: `mongodb://127.0.0.1:${proxy.port}/x` });
    const waiting = times(limits.concurrentCalls, () => store.users.get('x').catch(() => {}));
    expect(isRostrumError(await errorOf(store.users.get('x')), 'overloaded')).to.equal(true);
    expect(isRostrumError(await errorOf(store.ready()), 'store-unavailable')).to.equal(true);
    await Promise.all(waiting);
  });
});

describe('a command that the driver never settles', () => {
  it('ends with its call, also if several callers share the call', async function () {
    this.timeout(20_000);
    const call = new Call(new Primary(async () => {}));
    const { timeoutSignal } = call;
    const command = call.run(() => new Promise(() => {}));
    expect(isRostrumError(await errorOf(command), 'store-unavailable')).to.equal(true);
    expect(timeoutSignal.aborted).to.equal(true);
  });
});

describe('a call whose command keeps failing', () => {
  it('ends in time with the reason', async function () {
    this.timeout(20_000);
    const call = new Call(new Primary(async () => {}));
    const reason = new MongoNetworkError('read ECONNRESET');
    const error = await errorOf(call.read(() => Promise.reject(reason)));
    expect(isRostrumError(error, 'store-unavailable')).to.equal(true);
    const { cause } = error as Error;
    expect(String(cause)).to.equal('Error: The call took too long: read ECONNRESET');
    expect((cause as Error).cause).to.equal(reason);
  });
});

await describeOnMongodb('a MongoDB server that stops responding', () => {
  it('makes calls in progress end in time, and calls succeed again once it responds', async function () {
    this.timeout(120_000);
    const { proxy, url } = await behindProxy();
    await using _ = proxy;
    await using store = openMongodbStore({ url: url.href });
    await untilServed(() => store.ready(), 20_000);
    for (const ms of [0, 2, 5]) {
      const [author, written] = [user(), post()];
      await store.users.create(author);
      await store.posts.create(written);
      const calls = everyCall(store, author.id, written.id);
      await sleep(ms);
      proxy.block();
      await allEndInTime(calls);
      proxy.unblock();
      await untilServed(() => store.users.get(author.id));
    }
  });

  it('makes a change that matched no record fail with outcome "none"', async function () {
    this.timeout(60_000);
    const { proxy, url } = await behindProxy();
    await using _ = proxy;
    await using other = await new MongoClient((await sharedServer()).url('silence')).connect();
    url.searchParams.set('monitorCommands', 'true');
    const db = readUrl(url.href);
    const connection = new Connection(db, safeLogger(undefined), {});
    const creations = new CreationBatcher(connection);
    const [users, posts] = [
      new MongodbUserRepository(connection, 'users', creations),
      new MongodbPostRepository(connection, 'posts', creations),
    ];
    await untilServed(() => connection.ready(), 20_000);
    const [author, moved] = [user(), post()];
    await users.create(author);
    await posts.create(moved);

    // Another change conflicts with the first try, and is committed before the next one.
    const session = other.startSession();
    session.startTransaction();
    await other
      .db()
      .collection<{ _id: string }>('posts')
      .updateOne({ _id: moved.id }, { $inc: { version: 1 } }, { session });
    let tries = 0;
    db.client.on('commandStarted', ({ commandName }) => {
      if (commandName === 'update') tries += 1;
    });
    db.client.on('commandSucceeded', ({ commandName, reply }) => {
      if (commandName === 'update' && (reply as { n: number }).n === 0) proxy.block();
    });
    const error = errorOf(
      posts.update(moved.id, ({ record }) => ({ ...record, authorId: author.id })),
    );
    await until(() => tries > 0, 'the change conflicts');
    await session.commitTransaction();
    await session.endSession();
    expect(
      isRostrumError(await error, 'store-unavailable') && (await error),
    ).to.have.nested.property('details.outcome', 'none');
    proxy.unblock();
    await connection.close();
  });

  it('lets a list end with its abort signal, which closes its connection', async () => {
    const { proxy, url } = await behindProxy();
    await using _ = proxy;
    await using store = openMongodbStore({ url: url.href });
    await untilServed(() => store.posts.list(query));
    proxy.block();
    const { connections } = proxy;
    const [ended, reason] = [new AbortController(), new Error('The client is gone.')];
    const list = errorOf(store.users.list({ ...query, signal: ended.signal }));
    setTimeout(() => ended.abort(reason), 50);
    const from = Date.now();
    expect(await list).to.equal(reason);
    expect(Date.now() - from).to.be.below(1000);
    await until(async () => proxy.connections < connections, 'the connection is closed', 2000);
    expect(await errorOf(store.users.list({ ...query, signal: ended.signal }))).to.equal(reason);
    proxy.unblock();
  });
});

async function behindProxy() {
  const url = new URL((await sharedServer()).url('silence'));
  const proxy = await SilentProxy.start(Number(url.port));
  url.port = String(proxy.port);
  url.searchParams.set('directConnection', 'true');
  return { proxy, url };
}

function everyCall(store: MongodbStore, userId: string, postId: string): Promise<unknown>[] {
  const { users, posts, transfer, events, ready } = store;
  return [
    ready(),
    users.get(userId),
    users.list(query),
    users.create(user(), newReceipt()),
    users.lastVersion(userId),
    users.update(userId, ({ record }) => ({ ...record, name: 'Bob' })),
    users.delete(userId, 'keep', at(0)),
    posts.create(post({ authorId: userId })),
    posts.update(postId, ({ record }) => ({ ...record, authorId: userId })),
    posts.delete(postId),
    transfer.users.scan({ limit: 10, bytes: 10_000 }),
    transfer.posts.load([{ record: post(), version: 1, json: '' }]),
    transfer.posts.deleted.scan(10),
    transfer.posts.deleted.load([{ id: 'z', lastVersion: 1 }]),
    transfer.begin(),
    transfer.end(),
    transfer.isFilling(),
    events?.read(10) ?? Promise.reject(),
  ];
}

async function allEndInTime(calls: readonly Promise<unknown>[]): Promise<void> {
  await Promise.all(calls.map((call) => endsInTime(call)));
}

/** Expects a call to resolve, or to reject with a Rostrum error, within the time limit. */
async function endsInTime(call: Promise<unknown>): Promise<void> {
  const from = Date.now();
  const error = await errorOf(call);
  expect(Date.now() - from).to.be.below(bound);
  if (error !== undefined && !isRostrumError(error)) throw error;
}
