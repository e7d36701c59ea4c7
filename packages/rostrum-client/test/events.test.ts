import { expect } from 'chai';
import { createClient, type RecordEvent } from '../src/index.ts';
import { startApi } from './support/api.ts';
import { FaultProxy } from './support/fault-proxy.ts';
import { problemOf } from './support/problem-of.ts';

describe('client.events', () => {
  it('read returns events after a position, and can wait for them', async () => {
    await using api = await startApi();
    const client = createClient({ url: api.url });
    const { events, next } = await client.events.read();
    expect(events).to.deep.equal([]);
    const waiting = client.events.read({ after: next, wait: 20 });
    const { id } = (await client.users.create({ name: 'Ada' })).record;
    expect((await waiting).events).to.deep.equal([{ type: 'user.created', id, version: 1 }]);
    await client.users.delete(id);
    const page = await client.events.read({ after: next, limit: 5 });
    expect(page.events.at(-1)).to.deep.equal({ type: 'user.deleted', id, version: 1 });
  });

  it('follow ends if its signal is aborted, or fails if the position is expired', async () => {
    await using api = await startApi();
    const client = createClient({ url: api.url });
    const ended = new AbortController();
    const met: RecordEvent[] = [];
    const reason = new Error('enough');
    const follow = (async () => {
      let isBegun = false;
      for await (const page of client.events.follow({ limit: 2 }, { signal: ended.signal })) {
        if (!isBegun) for (const title of 'abcde') await client.posts.create({ title });
        isBegun = true;
        met.push(...page.events);
        if (met.length === 5) ended.abort(reason);
      }
    })();
    expect(await follow.catch((error: unknown) => error)).to.equal(reason);
    expect(met.map(({ type }) => type)).to.deep.equal(new Array(5).fill('post.created'));
    const expired = client.events.follow({ after: 'elsewhere' }).next();
    expect(await problemOf(expired)).to.include({ code: 'events-expired', status: 410 });
  });

  it('follow yields each event once despite network failures', async () => {
    await using api = await startApi();
    await using proxy = await FaultProxy.start(api.url);
    const writer = createClient({ url: api.url });
    const client = createClient({ url: proxy.url, retry: { pauseMs: 20, tries: 8 } });
    const { next: after } = await writer.events.read();
    const made: string[] = [];
    for (const name of 'abcdef') made.push((await writer.users.create({ name })).record.id);
    proxy.faults.push('lost request', 'lost response', { status: 503 }, 'cut response');
    const met: string[] = [];
    for await (const { events } of client.events.follow({ after, limit: 2 })) {
      met.push(...events.map(({ id }) => id));
      if (met.length >= made.length) break;
      proxy.faults.push('lost response');
    }
    expect(met).to.deep.equal(made);
    expect(proxy.seen.length).to.be.above(6);
  });

  it('follow continues through an outage, regardless of the retry limit', async () => {
    await using api = await startApi();
    await using proxy = await FaultProxy.start(api.url);
    const client = createClient({ url: proxy.url, retry: { tries: 1 } });
    const { next: after } = await client.events.read();
    const { id } = (await createClient({ url: api.url }).users.create({ name: 'Ada' })).record;
    proxy.faults.push('lost request', { status: 503 });
    for await (const { events } of client.events.follow({ after })) {
      expect(events.map((event) => event.id)).to.deep.equal([id]);
      break;
    }
    expect(proxy.faults).to.deep.equal([]);
  });

  it('follow waits no longer than the request timeout', async () => {
    await using api = await startApi();
    const client = createClient({ url: api.url, timeoutMs: 6000 });
    const { next: after } = await client.events.read();
    const page = await client.events.follow({ after }).next();
    expect(page.value).to.deep.equal({ events: [], next: after });
  });
});
