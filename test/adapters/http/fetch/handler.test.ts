import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import {
  createFetchHandler,
  type FetchHandler,
  type FetchHandlerOptions,
} from '../../../../src/adapters/http/fetch/index.ts';
import type { HttpMetrics, RateLimiter } from '../../../../src/adapters/http/index.ts';
import { maxBodyBytes } from '../../../../src/adapters/http/sizes.ts';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import { createRostrum, type Rostrum } from '../../../../src/index.ts';
import { until } from '../../../support/until.ts';
import { keepLog } from '../support/log.ts';
import { slowStore } from '../support/slow-store.ts';

const at = (path: string) => `https://forum.example/api/v1${path}`;
const json = { 'Content-Type': 'application/json' };

/** A body that arrives in chunks; `seen.pulled` counts the chunks that were read. */
function inPieces(pieces: Iterable<Uint8Array | string>) {
  const iterator = Iterator.from(pieces);
  const seen = { pulled: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const { done, value } = iterator.next();
        if (done) return controller.close();
        seen.pulled += 1;
        controller.enqueue(typeof value === 'string' ? Buffer.from(value) : value);
      },
      cancel() {
        seen.isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, seen };
}

const postOf = (
  body: ReadableStream | string,
  headers: Record<string, string> = {},
  signal: AbortSignal | null = null,
) =>
  new Request(at('/users'), {
    ...{ method: 'POST', body, duplex: 'half', signal },
    headers: { ...json, ...headers },
  });

async function expectProblem(response: Response, status: number, code: string): Promise<void> {
  const body = (await response.json()) as Record<string, unknown>;
  expect([response.status, body.code], JSON.stringify(body)).to.deep.equal([status, code]);
}

/** Returns the reason with which a promise rejects. */
const reasonOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.fail('It is fulfilled.'),
    (reason) => reason,
  );

describe('rostrum/fetch', () => {
  let rostrum: Rostrum;
  let handle: FetchHandler;
  const log = keepLog();
  beforeEach(() => {
    log.lines.length = 0;
    rostrum = createRostrum(createMemoryStore());
    handle = make();
  });
  const make = (options: FetchHandlerOptions = {}) =>
    createFetchHandler(rostrum, { logger: log.logger, ...options });
  const get = (path: string, init?: RequestInit) => handle(new Request(at(path), init));

  it('returns a complete Response for each method, with null bodies where HTTP has none', async () => {
    const made = await handle(postOf('{"name":"Ann"}'));
    expect([made.status, made.statusText]).to.deep.equal([201, 'Created']);
    const location = made.headers.get('location') ?? '';
    expect(location).to.match(/^\/api\/v1\/users\/.+/);
    const etag = made.headers.get('etag') ?? '';
    const path = location.slice('/api/v1'.length);
    const gotten = await get(path);
    const text = await gotten.text();
    expect(text).to.equal(await made.text());
    const head = await get(path, { method: 'HEAD' });
    expect([head.status, head.body, head.headers.get('etag')]).to.deep.equal([200, null, etag]);
    expect(head.headers.get('content-length')).to.equal(String(Buffer.byteLength(text)));
    const known = await get(path, { headers: { 'If-None-Match': etag } });
    expect([known.status, known.body]).to.deep.equal([304, null]);
    const headers = { Prefer: 'return=minimal' };
    const deleted = await get(path, { method: 'DELETE', headers });
    expect([deleted.status, deleted.body]).to.deep.equal([204, null]);
    const options = await get('/users', { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).to.deep.equal([
      204,
      'GET, HEAD, POST, OPTIONS',
    ]);
  });

  it('returns 404 outside its prefix, and serves problem pages below it', async () => {
    await expectProblem(
      await handle(new Request('https://forum.example/else#x')),
      404,
      'path-not-found',
    );
    const page = await get('/problems/internal');
    expect(page.status).to.equal(200);
    const own = make({ prefix: '/', publicUrl: 'https://example.com/forum' });
    const { headers } = await own(
      new Request('https://forum.example/users', postOf('{"name":"A"}')),
    );
    expect(headers.get('location')).to.match(/^https:\/\/example\.com\/forum\/users\//);
  });

  it('reads a chunked body without Content-Length', async () => {
    const bytes = Buffer.from('{"name":"é𐍈"}');
    const pieces = Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));
    const response = await handle(postOf(inPieces(pieces).body));
    expect(response.status).to.equal(201);
    expect(await response.json()).to.include({ name: 'é𐍈' });
    await expectProblem(await handle(postOf(inPieces([]).body)), 400, 'invalid-body');
  });

  it('stops reading a body as soon as it is too large', async () => {
    const piece = ' '.repeat(64 * 1024);
    const endless = inPieces(
      (function* () {
        for (;;) yield piece;
      })(),
    );
    await expectProblem(await handle(postOf(endless.body)), 413, 'body-too-large');
    expect(endless.seen.pulled).to.be.below(maxBodyBytes / piece.length + 3);
    const declared = inPieces([piece]);
    const response = await handle(
      postOf(declared.body, { 'Content-Length': String(maxBodyBytes + 1) }),
    );
    expect(response.headers.has('connection')).to.equal(false);
    await expectProblem(response, 413, 'body-too-large');
    expect(declared.seen.pulled).to.equal(0);
    // If the body were cancelled, some hosts would close the connection before the client gets the response.
    expect([endless.seen.isCancelled, declared.seen.isCancelled]).to.deep.equal([false, false]);
    expect(endless.body.locked).to.equal(false);
  });

  it('rejects a body whose length differs from Content-Length', async () => {
    for (const length of ['5', '100']) {
      const { body } = inPieces(['{"name":', '"Ann"}']);
      const response = await handle(postOf(body, { 'Content-Length': length }));
      await expectProblem(response, 400, 'bad-request');
    }
    const { body } = inPieces(['{"name":', '"Ann"}']);
    expect((await handle(postOf(body, { 'Content-Length': '14' }))).status).to.equal(201);
  });

  it('aborts a body in tiny chunks, which cost more memory than their bytes', async () => {
    const tiny = inPieces(Iterator.from(Array(80_000)).map(() => ' '));
    const reason = await reasonOf(handle(postOf(tiny.body)));
    expect(reason).to.include({ name: 'AbortError' });
    expect(tiny.seen.pulled).to.be.below(70_000);
    await until(() => log.lines.some(({ aborted }) => aborted === true), 'the abort is logged');
  });

  it('rejects with the error of the request body, or the reason of the abort signal', async () => {
    const torn = new ReadableStream({
      pull(controller) {
        controller.error(new Error('torn'));
      },
    });
    expect(await reasonOf(handle(postOf(torn)))).to.have.property('message', 'torn');

    const { store, begun, release } = slowStore();
    rostrum = createRostrum(store);
    handle = make();
    const never = new ReadableStream({ pull: () => new Promise(() => {}) });
    for (const request of [
      (signal: AbortSignal) => postOf(never, {}, signal),
      (signal: AbortSignal) => new Request(at('/users/x'), { signal }),
    ]) {
      const controller = new AbortController();
      const response = handle(request(controller.signal));
      await sleep(10);
      controller.abort(new Error('gone'));
      expect(await reasonOf(response)).to.have.property('message', 'gone');
    }
    await begun();
    release();
    const before = AbortSignal.abort(new Error('before'));
    expect(await reasonOf(get('/users', { signal: before }))).to.have.property('message', 'before');
    await until(() => log.lines.length === 3, 'the requests that began are logged');
    for (const line of log.lines) expect(line).to.include({ level: 'info', aborted: true });
  });

  it('returns 500 and logs why if the body has already been read', async () => {
    const request = postOf('{"name":"Ann"}');
    await request.text();
    await expectProblem(await handle(request), 500, 'internal');
    expect(String(log.lines.find(({ level }) => level === 'error')?.err)).to.match(
      /was read before/,
    );
  });

  it('streams a large response in chunks as it is read', async () => {
    const own = 'x'.repeat(1_000_000);
    const { record } = await rostrum.users.create({ name: 'Ann', own });
    const path = `/users/${record.id}`;
    const whole = await get(path);
    expect(await whole.json()).to.include({ own });
    const lines = () => log.lines.filter(({ message }) => message === 'request');
    await until(() => lines().length === 1, 'the request is logged after its body was read');
    expect(lines()[0]?.bytes).to.equal(Number(whole.headers.get('content-length')));

    const left = await get(path);
    const reader = left.body?.getReader();
    const first = await reader?.read();
    expect(first?.value?.length).to.equal(64 * 1024);
    await sleep(20);
    expect(lines()).to.have.lengthOf(1);
    await reader?.cancel();
    await until(() => lines().length === 2, 'the request is logged after its body was cancelled');
    expect(lines()[1]).to.include({ aborted: true });

    const controller = new AbortController();
    const cut = await get(path, { signal: controller.signal });
    controller.abort(new Error('gone'));
    expect(await reasonOf(cut.text())).to.have.property('message', 'gone');
    expect(log.lines.filter(({ level }) => level !== 'info')).to.deep.equal([]);
  });

  it('serves concurrent requests without mixing them up', async () => {
    const names = Array.from({ length: 200 }, (_, n) => `No. ${n}`);
    const made = await Promise.all(
      names.map(async (name) => {
        const response = await handle(
          postOf(inPieces(['{"name":', JSON.stringify(name), '}']).body),
        );
        return ((await response.json()) as { name: string }).name;
      }),
    );
    expect(made).to.deep.equal(names);
  });

  it('rejects requests over the limit, and accepts new ones afterwards', async () => {
    const { store, begun, release } = slowStore();
    rostrum = createRostrum(store);
    handle = make();
    const waiting = Array.from({ length: 2000 }, () => get('/users/x'));
    await begun();
    const refused = await get('/users/x');
    expect(refused.headers.has('retry-after')).to.equal(true);
    await expectProblem(refused, 503, 'overloaded');
    release();
    const statuses = new Set((await Promise.all(waiting)).map(({ status }) => status));
    expect(statuses).to.deep.equal(new Set([404, 503]));
    expect((await get('/users/x')).status).to.equal(404);
  });

  it('takes the client address from the address option, or from trusted proxies', async () => {
    const keys: string[] = [];
    const limiter: RateLimiter = {
      ...{ points: 1, duration: 1 },
      async penalty(key) {
        keys.push(key);
        return { consumedPoints: 1, msBeforeNext: 1000 };
      },
      get: async () => null,
    };
    const addresses = new WeakMap<Request, string>();
    handle = make({ rateLimits: { address: limiter }, address: (one) => addresses.get(one) });
    const request = new Request(at('/users'), { headers: { 'X-Forwarded-For': '198.51.100.1' } });
    addresses.set(request, '192.0.2.7');
    await handle(request);
    await handle(new Request(request));
    handle = make({ rateLimits: { address: limiter }, trustedProxies: 1 });
    await handle(request);
    expect(keys).to.deep.equal(['192.0.2.7', '', '198.51.100.1']);
    expect(log.lines.map(({ address }) => address)).to.deep.equal(keys);
  });

  it('returns 421 for a host name that isOwnHost rejects', async () => {
    handle = make({ isOwnHost: (name) => name === 'forum.example' });
    expect((await get('/users')).status).to.equal(200);
    const other = new Request('https://other.example:8443/api/v1/users');
    await expectProblem(await handle(other), 421, 'misdirected-request');
    const headers = { Host: 'other.example' };
    await expectProblem(await get('/users', { headers }), 421, 'misdirected-request');
  });

  it('passes authenticate a Koa context with URL, address, headers and cookies', async () => {
    const seen: unknown[] = [];
    handle = make({
      address: () => '192.0.2.7',
      authenticate: (ctx) => {
        const { href, ip, secure, method } = ctx;
        seen.push([href, ip, secure, method, ctx.get('X-Own'), ctx.cookies.get('session')]);
        return { name: 'Ann', subject: null, scopes: new Set(['users:read']) };
      },
    });
    const headers = { 'X-Own': 'a', Cookie: 'session=s1' };
    expect((await get('/users?limit=1', { headers })).status).to.equal(200);
    const href = at('/users?limit=1');
    expect(seen).to.deep.equal([[href, '192.0.2.7', true, 'GET', 'a', 's1']]);
  });

  it('counts requests, and leaves no abort listeners behind', async () => {
    const counted: unknown[] = [];
    const metrics: HttpMetrics = {
      requestBegan: () => counted.push('began'),
      requestEnded: (endpoint, status) => counted.push([endpoint, status]),
      problem: (code) => counted.push(code),
    };
    handle = make({ metrics });
    const { signal } = new AbortController();
    await get('/users', { signal });
    await get('/users?x=1', { signal });
    expect(counted).to.deep.equal([
      ...['began', ['listUsers', 200]],
      ...['began', ['listUsers', 400], 'invalid-query'],
    ]);
    const request = new Request(at('/users'));
    await handle(request);
    expect(getEventListeners(request.signal, 'abort')).to.deep.equal([]);
  });

  it('throws a TypeError for an invalid prefix', () => {
    expect(() => make({ prefix: 'api' })).to.throw(TypeError, /prefix/);
  });
});
