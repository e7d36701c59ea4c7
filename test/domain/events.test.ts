import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { createRostrum, isRostrumError, type Scope } from '../../src/index.ts';
import { type EventPage, type Store, storeUnavailable } from '../../src/ports/index.ts';
import { errorOf } from '../support/error-of.ts';

/** A store whose log answers late what it saw. */
function slowLog(store: Store, ms: (limit: number) => number) {
  const reads = { count: 0 };
  const events = {
    async read(limit: number, after?: string): Promise<EventPage> {
      reads.count += 1;
      const page = await store.events?.read(limit, after);
      await sleep(ms(limit));
      return page as EventPage;
    },
  };
  return { reads, rostrum: createRostrum({ ...store, events }) };
}

const codeOf = async (call: Promise<unknown>) => {
  const error = await errorOf(call);
  return isRostrumError(error) ? error.code : String(error);
};

describe('events of the core', () => {
  it('are read from the end of the log, and on from a position', async () => {
    const { events, users } = createRostrum(createMemoryStore());
    const { next } = await events.read();
    const { id } = (await users.create({ name: 'Ada' })).record;
    await users.patch(id, { name: 'Bo' });
    const page = await events.read({ after: next, limit: 1 });
    expect(page.events).to.deep.equal([{ collection: 'users', id, version: 1 }]);
    expect((await events.read({ after: page.next })).events).to.deep.equal([
      { collection: 'users', id, version: 2 },
    ]);
    expect((await events.read()).events).to.deep.equal([]);
  });

  it('are refused for what cannot be asked for, and where there is no log', async () => {
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

  it('are those of the collections that a caller may read whole', async () => {
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

  it('are waited for, past those that are not for the caller', async () => {
    const rostrum = createRostrum(createMemoryStore());
    const { events } = rostrum.as({ name: 'a', subject: null, scopes: new Set(['users:read']) });
    const { next: after } = await events.read();
    const waiting = events.read({ after, limit: 2, waitMs: 20_000 });
    for (let n = 0; n < 5; n++) await rostrum.posts.create({ title: 'x' });
    const { id } = (await rostrum.users.create({ name: 'Ada' })).record;
    expect((await waiting).events).to.deep.equal([{ collection: 'users', id, version: 1 }]);
  });

  it('wake a reader for which they come between its look and its sleep', async () => {
    const store = createMemoryStore();
    // The end of the log is looked at in no time, and a reader hears late what it saw.
    const { rostrum } = slowLog(store, (limit) => (limit === 1 ? 0 : 600));
    const { next: after } = await rostrum.events.read({ limit: 1 });
    const read = () => rostrum.events.read({ after, waitMs: 5000, limit: 3 });
    const asleep = read();
    await sleep(1400);
    const looking = read();
    // It is in its second look, the first that others may share.
    await sleep(700);
    const { id } = (await createRostrum(store).posts.create({ title: 'x' })).record;
    for (const { events } of await Promise.all([asleep, looking])) {
      expect(events).to.deep.equal([{ collection: 'posts', id, version: 1 }]);
    }
  });

  it('wake readers after a look at the log that failed', async () => {
    const store = createMemoryStore();
    let isAway = false;
    const read = async (limit: number, after?: string): Promise<EventPage> => {
      if (isAway && limit === 1) throw storeUnavailable('none');
      return (await store.events?.read(limit, after)) as EventPage;
    };
    const { events, users } = createRostrum({ ...store, events: { read } });
    const { next: after } = await events.read();
    const waiting = events.read({ after, waitMs: 8000 });
    await sleep(100);
    isAway = true;
    await sleep(600);
    isAway = false;
    const { id } = (await users.create({ name: 'Ada' })).record;
    expect((await waiting).events).to.deep.equal([{ collection: 'users', id, version: 1 }]);
  });

  it('are read once for all that wait for the same', async () => {
    const { rostrum, reads } = slowLog(createMemoryStore(), () => 1);
    const { next: after } = await rostrum.events.read();
    const all = Array.from({ length: 1000 }, () => rostrum.events.read({ after, waitMs: 20_000 }));
    await sleep(300);
    expect(await codeOf(rostrum.events.read({ after, waitMs: 20_000 }))).to.equal('overloaded');
    const before = reads.count;
    await rostrum.users.create({ name: 'Ada' });
    const pages = await Promise.all(all);
    expect(new Set(pages.map(({ events }) => events.length))).to.deep.equal(new Set([1]));
    expect(reads.count - before).to.be.below(10);
    expect((await rostrum.events.read({ after, waitMs: 1000 })).events).to.have.length(1);
  });

  it('end a wait with what there is, when its signal says so or its time is over', async () => {
    const { events } = createRostrum(createMemoryStore());
    const { next: after } = await events.read();
    const ended = new AbortController();
    const waiting = events.read({ after, waitMs: 20_000, signal: ended.signal });
    setTimeout(() => ended.abort(), 50);
    expect(await waiting).to.deep.equal({ events: [], next: after });
    const none = { events: [], next: after };
    expect(await events.read({ after, waitMs: 20_000, signal: ended.signal })).to.deep.equal(none);
    expect(await events.read({ after, waitMs: 20 })).to.deep.equal(none);
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
