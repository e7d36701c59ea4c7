import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { createRostrum, isRostrumError, type Rostrum, type Scope } from '../../src/index.ts';
import {
  type EventLog,
  type EventPage,
  type Store,
  storeUnavailable,
} from '../../src/ports/index.ts';
import { collectGarbage } from '../support/collect-garbage.ts';
import { errorOf } from '../support/error-of.ts';

type Read = EventLog['read'];

/** The core on a store, with `read` in front of the store's log. */
function withRead(
  store: Store,
  read: (inner: Read, ...given: Parameters<Read>) => Promise<EventPage>,
) {
  const inner: Read = async (...given) => (await store.events?.read(...given)) as EventPage;
  return createRostrum({ ...store, events: { read: (...given) => read(inner, ...given) } });
}

const reader = (rostrum: Rostrum, ...scopes: Scope[]) =>
  rostrum.as({ name: 'a', subject: null, scopes: new Set(scopes) }).events;

const codeOf = async (call: Promise<unknown>) => {
  const error = await errorOf(call);
  return isRostrumError(error) ? error.code : String(error);
};

describe('events of the core', () => {
  it('are read from the end of the log, then from a position', async () => {
    const { events, users } = createRostrum(createMemoryStore());
    const { next } = await events.read();
    const { id } = (await users.create({ name: 'Ada' })).record;
    await users.patch(id, { name: 'Bo' });
    const page = await events.read({ after: next, limit: 1 });
    expect(page.events).to.deep.equal([{ type: 'created', collection: 'users', id, version: 1 }]);
    expect((await events.read({ after: page.next })).events).to.deep.equal([
      { type: 'updated', collection: 'users', id, version: 2 },
    ]);
    expect((await events.read()).events).to.deep.equal([]);
  });

  it('reject invalid requests, and stores without a log', async () => {
    const { events } = createRostrum(createMemoryStore());
    const requests: object[] = [{ limit: 0 }, { limit: 1001 }, { limit: 1.5 }, { waitMs: -1 }];
    for (const request of [...requests, { waitMs: 25_001 }]) {
      expect(await errorOf(events.read(request))).to.be.instanceOf(RangeError);
    }
    for (const request of [{ from: 'x' }, { after: 7 }] as object[]) {
      expect(await errorOf(events.read(request))).to.be.instanceOf(TypeError);
    }
    expect(await codeOf(events.read({ after: 'x' }))).to.equal('events-expired');
    const { events: _, ...without } = createMemoryStore();
    const read = createRostrum(without).events.read();
    expect(await codeOf(read)).to.equal('events-unavailable');
  });

  it('are limited to the collections that the caller can read in full', async () => {
    const rostrum = createRostrum(createMemoryStore());
    const { next: after } = await rostrum.events.read();
    await rostrum.users.create({ name: 'Ada' });
    await rostrum.posts.create({ title: 'On engines' });
    const seenBy = async (...scopes: Scope[]) => {
      const { events } = rostrum.as({ name: 'a', subject: 'x', scopes: new Set(scopes) });
      const page = await events.read({ after, waitMs: 0 });
      return page.events.map(({ collection }) => collection);
    };
    expect(await seenBy('users:read', 'posts:read:all')).to.deep.equal(['users', 'posts']);
    expect(await seenBy('users:read', 'posts:read', 'posts:write:own')).to.deep.equal(['users']);
    expect(await seenBy('posts:read:all', 'users:read:public')).to.deep.equal(['posts']);
    expect(await seenBy('posts:write')).to.deep.equal(['posts']);
    for (const scope of ['users:read:public', 'users:write', 'posts:read', 'posts:write:own']) {
      expect(await codeOf(seenBy(scope as Scope)), scope).to.equal('forbidden');
    }
  });

  it('are values: modifying one does not affect other readers', async () => {
    const { events, users } = createRostrum(createMemoryStore());
    const { next: after } = await events.read();
    const readers = [1, 2].map(() => events.read({ after, waitMs: 5000 }));
    await users.create({ name: 'Ada' });
    const [one, other] = await Promise.all(readers);
    const expected = structuredClone(other?.events);
    Object.assign(one?.events[0] ?? {}, { id: 'changed' });
    expect(other?.events).to.deep.equal(expected);
    expect((await events.read({ after })).events).to.deep.equal(expected);
  });

  it('are waited for, skipping those that the caller cannot see', async () => {
    const rostrum = createRostrum(createMemoryStore());
    const events = reader(rostrum, 'users:read');
    const { next: after } = await events.read();
    const waiting = events.read({ after, limit: 2, waitMs: 20_000 });
    for (let n = 0; n < 5; n++) await rostrum.posts.create({ title: 'x' });
    const { id } = (await rostrum.users.create({ name: 'Ada' })).record;
    expect((await waiting).events).to.deep.equal([
      { type: 'created', collection: 'users', id, version: 1 },
    ]);
  });

  it('are found behind thousands of hidden ones, yielding to the event loop between reads', async () => {
    let [reads, ticks] = [0, 0];
    const rostrum = withRead(createMemoryStore(), (inner, ...given) => {
      reads += 1;
      return inner(...given);
    });
    const events = reader(rostrum, 'users:read');
    const { next: after } = await events.read();
    for (let n = 0; n < 5000; n++) await rostrum.posts.create({ title: 'x' });
    const { id } = (await rostrum.users.create({ name: 'Ada' })).record;
    const ticker = setInterval(() => {
      ticks += 1;
    }, 0);
    reads = 0;
    const page = await events.read({ after, limit: 1, waitMs: 20_000 });
    clearInterval(ticker);
    expect(page.events).to.deep.equal([{ type: 'created', collection: 'users', id, version: 1 }]);
    expect(reads).to.be.below(12);
    expect(ticks).to.be.at.least(5);
  });

  it('are dropped from memory once a waiting reader has skipped them', async () => {
    const pages: WeakRef<EventPage>[] = [];
    const rostrum = withRead(createMemoryStore(), async (inner, ...given) => {
      const page = await inner(...given);
      pages.push(new WeakRef(page));
      return page;
    });
    const events = reader(rostrum, 'users:read');
    const { next: after } = await events.read();
    for (let n = 0; n < 10_000; n++) await rostrum.posts.create({ title: 'x' });
    const stop = new AbortController();
    const waiting = events.read({ after, waitMs: 20_000, signal: stop.signal });
    while (pages.length < 15) await sleep(1);
    collectGarbage();
    expect(pages.filter((page) => page.deref() !== undefined)).to.have.length.below(5);
    stop.abort();
    await waiting;
  });

  it('arrive once each and in order, at any limit', async () => {
    const rostrum = createRostrum(createMemoryStore());
    const events = reader(rostrum, 'users:read');
    const { next: start } = await events.read();
    const ids: string[] = [];
    for (let n = 0; n < 1500; n++) {
      const isUser = n > 1100 && n % 3 > 0;
      if (isUser) ids.push((await rostrum.users.create({ name: 'Ada' })).record.id);
      else await rostrum.posts.create({ title: 'x' });
    }
    for (const limit of [1, 7, 100, 1000]) {
      const met: string[] = [];
      for (let after = start; met.length < ids.length; ) {
        const page = await events.read({ after, limit, waitMs: 20_000 });
        expect(page.events.length).to.be.within(1, limit);
        met.push(...page.events.map(({ id }) => id));
        after = page.next;
      }
      expect(met, `limit ${limit}`).to.deep.equal(ids);
    }
  });

  it('wake a reader when they are committed during its read', async () => {
    const store = createMemoryStore();
    const { posts } = createRostrum(store);
    let reads = 0;
    const { events } = withRead(store, async (inner, limit, after) => {
      const page = await inner(limit, after);
      if (limit === 1) return page;
      reads += 1;
      // The second read begins while the log is watched, and it misses a post; the watch sees it first.
      if (reads === 2) {
        await posts.create({ title: 'x' });
        await sleep(600);
      }
      return page;
    });
    const { next: after } = await events.read({ limit: 1 });
    const waiting = events.read({ after, waitMs: 5000 });
    expect((await waiting).events.map(({ collection }) => collection)).to.deep.equal(['posts']);
  });

  it('end a wait with the error of a read that failed, and are read again for the next reader', async () => {
    const store = createMemoryStore();
    let isAway = false;
    const { events, users } = withRead(store, (inner, ...given) => {
      if (isAway) throw storeUnavailable('none');
      return inner(...given);
    });
    const { next: after } = await events.read();
    const waiting = codeOf(events.read({ after, waitMs: 8000 }));
    await sleep(100);
    isAway = true;
    expect(await waiting).to.equal('store-unavailable');
    isAway = false;
    const { id } = (await users.create({ name: 'Ada' })).record;
    expect((await events.read({ after, waitMs: 8000 })).events).to.deep.equal([
      { type: 'created', collection: 'users', id, version: 1 },
    ]);
  });

  it('reach a reader at the end of the log while another one is far behind', async () => {
    const rostrum = withRead(createMemoryStore(), async (inner, limit, after) => {
      if (after?.startsWith('far')) {
        await sleep(5);
        // A log without an end.
        return {
          events: Array(limit).fill({ collection: 'posts' }),
          next: `${after}!`,
        } as EventPage;
      }
      return inner(limit, after);
    });
    const events = reader(rostrum, 'users:read');
    const { next: after } = await rostrum.events.read();
    const ended = new AbortController();
    const far = events.read({ after: 'far', waitMs: 25_000, signal: ended.signal });
    const near = events.read({ after, waitMs: 20_000 });
    await sleep(300);
    await rostrum.users.create({ name: 'Ada' });
    expect((await near).events).to.have.length(1);
    ended.abort();
    await far;
  });

  it('are read once for all readers at the same position', async () => {
    let reads = 0;
    const { events, users } = withRead(createMemoryStore(), async (inner, ...given) => {
      reads += 1;
      await sleep(1);
      return inner(...given);
    });
    const { next: after } = await events.read();
    const all = Array.from({ length: 1000 }, () => events.read({ after, waitMs: 20_000 }));
    await sleep(300);
    expect(await codeOf(events.read({ after, waitMs: 20_000 }))).to.equal('overloaded');
    const before = reads;
    await users.create({ name: 'Ada' });
    const pages = await Promise.all(all);
    expect(new Set(pages.map(({ events: { length } }) => length))).to.deep.equal(new Set([1]));
    expect(reads - before).to.be.below(10);
    expect((await events.read({ after, waitMs: 1000 })).events).to.have.length(1);
  });

  it('are read one page at a time for all waiting readers together', async () => {
    let [underWay, most] = [0, 0];
    const { events, posts } = withRead(createMemoryStore(), async (inner, ...given) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await sleep(5);
      const page = await inner(...given);
      underWay -= 1;
      return page;
    });
    const positions = [(await events.read()).next];
    for (let n = 0; n < 64; n++) {
      await posts.create({ title: 'x' });
      positions.push((await events.read()).next);
    }
    await Promise.all(positions.map((after) => events.read({ after, waitMs: 300 })));
    expect(most).to.equal(1);
  });

  it('end a wait on time, even during a read', async () => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let reads = 0;
    const rostrum = withRead(createMemoryStore(), async (inner, limit, after) => {
      if (limit > 1 && ++reads > 1) await ended;
      return inner(limit, after);
    });
    const events = reader(rostrum, 'users:read');
    const { next: after } = await rostrum.events.read({ limit: 1 });
    for (let n = 0; n < 3; n++) await rostrum.posts.create({ title: 'x' });
    const page = await events.read({ after, limit: 2, waitMs: 1500 });
    end();
    expect(page.events).to.deep.equal([]);
    // The first read counts: all three events lie behind the reader now.
    const rest = await rostrum.events.read({ after: page.next, limit: 3 });
    expect(rest.events).to.deep.equal([]);
  });

  it('end a wait with an empty page when it is aborted or its time is over', async () => {
    const { events } = createRostrum(createMemoryStore());
    const { next: after } = await events.read();
    const ended = new AbortController();
    const waiting = events.read({ after, waitMs: 20_000, signal: ended.signal });
    setTimeout(() => ended.abort(), 50);
    expect(await waiting).to.deep.equal({ events: [], next: after });
    const none = { events: [], next: after };
    expect(await events.read({ after, waitMs: 20_000, signal: ended.signal })).to.deep.equal(none);
    expect(await events.read({ after, waitMs: 20 })).to.deep.equal(none);
    const late = new AbortController();
    const slow = withRead(createMemoryStore(), async (inner, ...given) => {
      late.abort(); // During the first read.
      return inner(...given);
    });
    const page = await slow.events.read({ waitMs: 25_000, signal: late.signal });
    expect(page.events).to.deep.equal([]);
  });

  it('are followed page by page, from a position or from now on', async () => {
    const { events, users } = createRostrum(createMemoryStore());
    const ended = new AbortController();
    const met: string[] = [];
    const follow = (async () => {
      let pages = 0;
      for await (const page of events.follow({ limit: 2, signal: ended.signal })) {
        if (pages++ === 0) for (const name of 'abcde') await users.create({ name });
        met.push(...page.events.map(({ id }) => id));
        if (met.length === 5) ended.abort();
      }
    })();
    await follow;
    const all = await users.list({ order: { by: 'createdAt', direction: 'asc' } });
    expect(met).to.have.members(all.items.map(({ record }) => record.id));
  });
});
