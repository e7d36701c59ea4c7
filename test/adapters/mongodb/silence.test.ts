import { expect } from 'chai';
import { limits } from '../../../src/adapters/mongodb/connection/limits.ts';
import { openStore } from '../../../src/adapters/mongodb/store.ts';
import { isRostrumError } from '../../../src/domain/errors.ts';
import type { Store } from '../../../src/ports/store.ts';
import { at, post, receipt, times, user } from '../../../src/testing/fixtures.ts';
import { errorOf } from '../../support/error-of.ts';
import {
  describeOn,
  sharedServer,
  type Topology,
  topologies,
} from '../../support/mongod/shared.ts';
import { SilentProxy } from '../../support/mongod/silent-proxy.ts';
import { until, untilServed } from '../../support/until.ts';

// A connection that is taken and never answered is the failure that drivers wait for longest.
const bound = limits.callMs + 4000;

describe('A MongoDB server that takes connections and says nothing', () => {
  it('before the first call: every call ends in time', async function () {
    this.timeout(60_000);
    await using proxy = await SilentProxy.start();
    const store = openStore({ url: `mongodb://127.0.0.1:${proxy.port}/x` });
    await allEndInTime(everyCall(store, 'x', 'y'));
    await endsInTime(store.close());
  });

  it('more calls than a store takes are refused; its readiness is told all the same', async () => {
    await using proxy = await SilentProxy.start();
    await using store = openStore({ url: `mongodb://127.0.0.1:${proxy.port}/x` });
    const waiting = times(limits.calls, () => store.users.get('x').catch(() => {}));
    expect(isRostrumError(await errorOf(store.users.get('x')), 'overloaded')).to.equal(true);
    expect(isRostrumError(await errorOf(store.ready()), 'store-unavailable')).to.equal(true);
    await Promise.all(waiting);
  });
});

await describeOn('replica set', 'A MongoDB server that falls silent, and a standalone one', () => {
  it('in the midst of calls: every call ends in time, and is served again later', async function () {
    this.timeout(60_000);
    await Promise.all(topologies.map(fallSilent));
  });

  it('in the midst of a list: it ends with its signal, and its connection with it', async () => {
    const { proxy, url } = await behindProxy('replica set');
    await using _ = proxy;
    await using store = openStore({ url: url.href });
    const order = { by: 'createdAt', direction: 'asc' } as const;
    const request = { filter: {}, order, limit: 10, bytes: 10_000 } as const;
    await store.users.list(request);
    proxy.fallSilent();
    const { connections } = proxy;
    const [ended, reason] = [new AbortController(), new Error('The client is gone.')];
    const list = errorOf(store.users.list({ ...request, signal: ended.signal }));
    setTimeout(() => ended.abort(reason), 50);
    const from = Date.now();
    expect(await list).to.equal(reason);
    expect(Date.now() - from).to.be.below(1000);
    await until(async () => proxy.connections < connections, 'the connection is closed', 2000);
    expect(await errorOf(store.users.list({ ...request, signal: ended.signal }))).to.equal(reason);
    proxy.speak();
  });
});

async function behindProxy(topology: Topology) {
  const url = new URL((await sharedServer(topology)).url('silence'));
  const proxy = await SilentProxy.start(Number(url.port));
  url.port = String(proxy.port);
  if (topology === 'replica set') url.searchParams.set('directConnection', 'true');
  return { proxy, url };
}

async function fallSilent(topology: Topology): Promise<void> {
  const { proxy, url } = await behindProxy(topology);
  await using _ = proxy;

  // It falls silent when several of the calls below have got somewhere.
  let steps = 0;
  let armed = false;
  const store = openStore(
    { url: url.href },
    {
      intercept: async (_step, run) => {
        if (armed) steps += 1;
        if (steps === 4) proxy.fallSilent();
        return run();
      },
    },
  );
  const [author, written] = [user(), post()];
  await store.users.create(author);
  await store.posts.create(written);
  armed = true;
  await allEndInTime(everyCall(store, author.id, written.id));
  expect(steps).to.be.at.least(4);

  proxy.speak();
  await untilServed(() => store.users.get(author.id));
  await store.close();
}

function everyCall({ users, posts, ready }: Store, userId: string, postId: string) {
  const order = { by: 'createdAt', direction: 'asc' } as const;
  const page = { order, limit: 10, bytes: 10_000, total: true } as const;
  return [
    ready(),
    users.get(userId),
    users.list({ ...page, filter: {} }),
    users.list({ ...page, filter: { ids: [userId] } }),
    users.create(user(), receipt()),
    users.update(userId, ({ record }) => ({ ...record, name: 'Bob' })),
    users.delete(userId, 'keep', at(0)),
    posts.get(postId),
    posts.list({ ...page, filter: { authorId: userId } }),
    posts.create(post()),
    posts.create(post({ authorId: userId }), receipt()),
    posts.update(postId, ({ record }) => ({ ...record, authorId: userId })),
    posts.delete(postId),
  ];
}

async function allEndInTime(calls: readonly Promise<unknown>[]): Promise<void> {
  await Promise.all(calls.map((call) => endsInTime(call)));
}

/** Served, or refused as unavailable; but not later than the bound. */
async function endsInTime(call: Promise<unknown>): Promise<void> {
  const from = Date.now();
  const error = await errorOf(call);
  expect(Date.now() - from).to.be.below(bound);
  if (error !== undefined && !isRostrumError(error, 'store-unavailable')) throw error;
}
