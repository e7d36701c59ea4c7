import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { type Client, createClient, type TransportOptions } from '../src/index.ts';
import { type Api, startApi } from './support/api.ts';
import { collect } from './support/collect.ts';
import { type Fault, FaultProxy } from './support/fault-proxy.ts';
import { problemOf } from './support/problem-of.ts';

const busy: Fault = {
  status: 503,
  headers: { 'Content-Type': 'application/problem+json', 'Retry-After': '0' },
  body: JSON.stringify({ code: 'overloaded', status: 503, detail: 'Busy.' }),
};

function unavailable(outcome: string, retryAfter = '0'): Fault {
  return {
    status: 503,
    headers: { 'Content-Type': 'application/problem+json', 'Retry-After': retryAfter },
    body: JSON.stringify({ code: 'store-unavailable', status: 503, detail: 'Away.', outcome }),
  };
}

describe('the client, when the network fails', () => {
  let api: Api;
  let proxy: FaultProxy;
  let direct: Client;

  beforeEach(async () => {
    api = await startApi();
    proxy = await FaultProxy.start(api.url);
    direct = createClient({ url: api.url });
  });
  afterEach(async () => {
    await proxy[Symbol.asyncDispose]();
    await api[Symbol.asyncDispose]();
  });

  /** Returns a client whose next requests each meet one of these faults. */
  function clientThrough(faults: readonly Fault[], options: Partial<TransportOptions> = {}) {
    proxy.faults.push(...faults);
    return createClient({ url: proxy.url, ...options, retry: { pauseMs: 5, ...options.retry } });
  }

  const methods = () => proxy.seen.map(({ method }) => method).join(' ');

  for (const fault of ['lost request', 'lost response', 'cut response'] as const) {
    it(`creates one record with one key: ${fault}`, async () => {
      const { users } = clientThrough([fault, fault]);
      const { record, replayed } = await users.create({ name: 'Ada' });
      expect(replayed).to.equal(fault !== 'lost request');
      expect((await direct.users.list()).items).to.deep.equal([record]);
      const keys = proxy.seen.map(({ headers }) => headers['idempotency-key']);
      expect(keys).to.have.length(3);
      expect(new Set(keys)).to.have.property('size', 1);
      expect(keys[0]).to.match(/^[0-9a-f]{32}$/);
    });

    it(`reads, replaces, patches and deletes: ${fault}`, async () => {
      const { id } = (await direct.posts.create({ title: 'A' })).record;
      const { posts } = clientThrough([fault]);
      expect((await posts.get(id)).record.title).to.equal('A');
      proxy.faults.push(fault);
      expect((await posts.replace(id, { title: 'B' })).record.title).to.equal('B');
      proxy.faults.push(fault);
      expect((await posts.patch(id, { body: 'b' })).record).to.include({ title: 'B', body: 'b' });
      proxy.faults.push(fault);
      await posts.delete(id);
      expect(methods()).to.equal('GET GET PUT PUT PATCH PATCH DELETE DELETE');
      expect((await direct.posts.list()).items).to.deep.equal([]);
    });
  }

  it('generates a new key for each creation, unless one is given', async () => {
    const { users } = clientThrough([]);
    await users.create({ name: 'Ada' });
    await users.create({ name: 'Ada' });
    await users.create({ name: 'Ada' }, { idempotencyKey: 'k-1' });
    const [a, b, c] = proxy.seen.map(({ headers }) => headers['idempotency-key']);
    expect(a).to.not.equal(b);
    expect(c).to.equal('k-1');
  });

  it('reports an unknown outcome if a version mismatch could be due to its own change', async () => {
    const { id } = (await direct.posts.create({ title: 'A' })).record;
    const { posts } = clientThrough(['lost response']);
    const problem = await problemOf(posts.patch(id, { title: 'B' }, { ifMatch: 1 }));
    expect(problem).to.include({ code: 'version-mismatch', outcome: 'unknown', version: 2 });
    expect((await direct.posts.get(id)).record.title).to.equal('B');
  });

  it('does not apply an update twice', async () => {
    const { id } = (await direct.users.create({ name: 'Counter', count: 0 })).record;
    const { users } = clientThrough([]);
    const update = users.update(id, (user) => {
      proxy.faults.push('lost response'); // For the PUT.
      return { ...user, count: Number(user.count) + 1 };
    });
    expect(await problemOf(update)).to.include({ code: 'version-mismatch', outcome: 'unknown' });
    expect((await direct.users.get(id)).record.count).to.equal(1);
  });

  it('reports a missing record if no earlier try can have deleted it', async () => {
    const { posts } = clientThrough([busy]);
    expect(await problemOf(posts.delete('none'))).to.include({
      code: 'post-not-found',
      outcome: 'none',
    });
  });

  describe('a temporary rejection', () => {
    it('is retried after the time in Retry-After', async () => {
      const inOneSecond = { ...busy, headers: { 'Retry-After': '1' } };
      const { users } = clientThrough([inOneSecond]);
      await users.list();
      const [first, second] = proxy.seen.map(({ at }) => at);
      expect(Number(second) - Number(first)).to.be.within(990, 3000);
    });

    it('can have a date in Retry-After', async () => {
      const at = new Date(Math.ceil(Date.now() / 1000 + 1) * 1000);
      const { users } = clientThrough([
        { status: 429, headers: { 'Retry-After': at.toUTCString() } },
      ]);
      await users.list();
      expect(Date.now()).to.be.at.least(at.getTime() - 10);
    });

    it('is not retried if Retry-After exceeds the time limit', async () => {
      const { users } = clientThrough([unavailable('none', '61')]);
      expect(await problemOf(users.list())).to.include({
        code: 'store-unavailable',
        retryAfterMs: 61_000,
      });
      expect(proxy.seen).to.have.length(1);
    });

    it('is retried as often as configured', async () => {
      const { users } = clientThrough(Array<Fault>(9).fill(busy), { retry: { tries: 3 } });
      expect(await problemOf(users.create({ name: 'A' }))).to.include({
        code: 'overloaded',
        outcome: 'none',
      });
      expect(proxy.seen).to.have.length(3);
    });
  });

  describe('the outcome of a change', () => {
    const once = { retry: { tries: 1 } };
    const twice = { retry: { tries: 2 } };

    it('is unknown if the store does not know, but always none for a read', async () => {
      const { users } = clientThrough([unavailable('unknown'), unavailable('unknown')], once);
      const made = await problemOf(users.create({ name: 'A' }));
      expect(made).to.include({ code: 'store-unavailable', outcome: 'unknown' });
      expect(await problemOf(users.list())).to.have.property('outcome', 'none');
    });

    it('stays unknown even if the last try changed nothing', async () => {
      const { users } = clientThrough([unavailable('unknown'), busy, busy], {
        retry: { tries: 3 },
      });
      expect(await problemOf(users.create({ name: 'A' }))).to.have.property('outcome', 'unknown');
    });

    it('is none if no try reached the store', async () => {
      const { users } = clientThrough([busy, unavailable('none')], twice);
      expect(await problemOf(users.create({ name: 'A' }))).to.have.property('outcome', 'none');
    });

    it('is none if the credentials could not be checked', async () => {
      const body = JSON.stringify({
        code: 'credentials-unavailable',
        status: 503,
        detail: 'Away.',
      });
      const { users } = clientThrough([{ ...busy, body }], once);
      expect(await problemOf(users.create({ name: 'A' }))).to.have.property('outcome', 'none');
    });

    it('is known if a retry succeeds', async () => {
      const { users } = clientThrough([unavailable('unknown')]);
      expect(await users.create({ name: 'A' })).to.include({ version: 1 });
    });

    it('is unknown if no response arrives', async () => {
      const { users } = clientThrough(['lost response'], once);
      const problem = await problemOf(users.create({ name: 'A' }));
      expect(problem).to.include({ code: 'no-response', status: 0, outcome: 'unknown' });
      expect(problem.cause).to.be.an('error');
    });
  });

  it('does not retry permanent errors', async () => {
    const internal = { code: 'internal', status: 500, detail: 'Broken.' };
    const { users } = clientThrough([{ status: 500, body: JSON.stringify(internal) }]);
    expect(await problemOf(users.list())).to.have.property('code', 'internal');
    expect(await problemOf(users.create({ name: '' }))).to.have.property('code', 'invalid-record');
    expect(proxy.seen).to.have.length(2);
  });

  describe('a response that is not from the API', () => {
    it('is retried for a temporary gateway error', async () => {
      const page = { status: 502, headers: { 'Content-Type': 'text/html' }, body: '<h1>Bad</h1>' };
      const { users } = clientThrough([page]);
      expect((await users.list()).items).to.deep.equal([]);
      proxy.faults.push(page, page, page, page);
      expect(await problemOf(users.create({ name: 'A' }))).to.include({
        code: 'unexpected-response',
        status: 502,
        outcome: 'unknown',
      });
    });

    it('is never returned as a record', async () => {
      const { users } = clientThrough([{ status: 200, body: '<h1>Sign in</h1>' }]);
      const problem = await problemOf(users.create({ name: 'A' }));
      expect(problem).to.include({ code: 'unexpected-response', outcome: 'unknown' });
    });

    it('is never returned as a list', async () => {
      for (const body of ['{}', '[1,2]', '{"users":{},"next":null}', '{"users":[]}']) {
        const { users } = clientThrough([
          { status: 200, body },
          { status: 200, body },
        ]);
        const expected = { code: 'unexpected-response', status: 200, outcome: 'none' };
        expect(await problemOf(users.list()), body).to.include(expected);
        expect(await problemOf(collect(users.all())), body).to.include(expected);
      }
    });

    it('is not used for an update if it has no version', async () => {
      const headers: Record<string, string>[] = [{}, { ETag: '"a hash"' }];
      for (const one of headers) {
        const { users } = clientThrough([{ status: 200, headers: one, body: '{"name":"Ada"}' }]);
        const problem = await problemOf(users.update('1', (user) => user));
        expect(problem).to.include({ code: 'unexpected-response', outcome: 'none' });
        expect(problem.message).to.include('ETag');
      }
      expect(methods()).to.equal('GET GET');
    });

    it('is not followed if it redirects a change', async () => {
      const { users } = clientThrough([{ status: 301, headers: { Location: `${api.url}/users` } }]);
      const problem = await problemOf(users.create({ name: 'A' }));
      expect(problem).to.include({ code: 'unexpected-response', outcome: 'none' });
      expect(problem.message).to.include('redirect');
      expect(proxy.seen).to.have.length(1);
    });
  });

  it('limits the time of each try', async () => {
    const { users } = clientThrough(['silence'], { timeoutMs: 1000 });
    expect((await users.list()).items).to.deep.equal([]);
    expect(proxy.seen).to.have.length.above(1);
  });

  describe('a signal', () => {
    const reason = new Error('enough');

    async function aborted(
      faults: readonly Fault[],
      call: (signal: AbortSignal) => Promise<unknown>,
    ) {
      const controller = new AbortController();
      proxy.faults.push(...faults);
      const ended = call(controller.signal).catch((error: unknown) => error);
      do await setTimeout(100);
      while (proxy.seen.length === 0);
      controller.abort(reason);
      expect(await ended).to.equal(reason);
      expect(proxy.seen).to.have.length(1);
    }

    it('aborts a request', async () => {
      const { users } = clientThrough([]);
      await aborted(['silence'], (signal) => users.create({ name: 'A' }, { signal }));
    });

    it('aborts a wait', async () => {
      const { users } = clientThrough([]);
      const later = unavailable('none', '30');
      await aborted([later], (signal) => collect(users.all({}, { signal })));
    });

    it('that is already aborted prevents the request', async () => {
      const { users } = clientThrough([]);
      const call = users.list({}, { signal: AbortSignal.abort(reason) });
      expect(await call.catch((error: unknown) => error)).to.equal(reason);
      expect(proxy.seen).to.have.length(0);
    });
  });

  it('sends no token once the function returns undefined, even in a retry', async () => {
    const tokens = ['t-1', undefined];
    const { users } = clientThrough([busy], { token: () => tokens.shift() });
    await users.list();
    const sent = proxy.seen.map(({ headers }) => headers.authorization);
    expect(sent).to.deep.equal(['Bearer t-1', undefined]);
  });

  it('sends a token, and gets a new one for each try', async () => {
    let asked = 0;
    const { users } = clientThrough([busy], { token: async () => `t-${++asked}` });
    await users.list();
    await createClient({ url: proxy.url, token: 'fixed' }).users.list();
    const sent = proxy.seen.map(({ headers }) => headers.authorization);
    expect(sent).to.deep.equal(['Bearer t-1', 'Bearer t-2', 'Bearer fixed']);
  });
});
