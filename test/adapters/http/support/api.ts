import { expect } from 'chai';
import { type FetchHandler, fetchHandler } from '../../../../src/adapters/http/fetch/handler.ts';
import {
  createApp,
  type RostrumAppOptions,
  type RunningServer,
  type ServeOptions,
  serve,
} from '../../../../src/adapters/http/index.ts';
import { createRostrum, type RostrumOptions, type Store } from '../../../../src/index.ts';
import type { Answer, Body } from './answer.ts';
import { DescriptionUnderTest, documentOf } from './description.ts';
import { isFetchTransport, NoServer } from './fetch-transport.ts';
import { openStore } from './open-store.ts';

type Json = object | string | undefined;

/** The OpenAPI description with all options on. Every response is checked against it. */
const described = new DescriptionUnderTest(
  documentOf({ authenticate: () => undefined, anonymous: [], requireIfMatch: true }),
);

/** A server with its own store, and helpers to call it. */
export interface Api extends AsyncDisposable {
  readonly server: RunningServer;
  readonly store: Store;
  send(
    method: string,
    path: string,
    headers?: Record<string, string>,
    body?: Json,
  ): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body: Json, headers?: Record<string, string>): Promise<Answer>;
  /** Creates a record and returns it. */
  make(path: string, body: object): Promise<Body>;
}

export interface StartOptions {
  readonly store?: Store;
  readonly core?: RostrumOptions;
  readonly app?: Partial<RostrumAppOptions>;
  readonly serve?: ServeOptions;
}

/**
 * Starts the app on loopback, or behind `rostrum/fetch`. Paths that begin with `/` are relative to `/api/v1`.
 */
export async function startApi(options: StartOptions = {}): Promise<Api> {
  const store = options.store ?? openStore();
  const rostrum = createRostrum(store, options.core);
  const app = createApp(rostrum, { ready: () => store.ready(), ...options.app });
  const handle = isFetchTransport ? withoutServer(app) : fetch;
  const server = isFetchTransport
    ? new NoServer(handle)
    : await serve(app, { port: 0, ...options.serve });
  return {
    server,
    store,
    ...callsTo(`${server.url}/api/v1`, handle),
    async [Symbol.asyncDispose]() {
      await server.close();
      await store.close();
    },
  };
}

export type Calls = Pick<Api, 'send' | 'get' | 'post' | 'make'>;

/** Returns a replacement for `fetch` that needs no server. */
function withoutServer(app: ReturnType<typeof createApp>): FetchHandler {
  const handle = fetchHandler(app, () => '127.0.0.1');
  return (request) => {
    request.headers.append('User-Agent', 'node');
    return handle(request);
  };
}

export function callsTo(base: string, handle: FetchHandler = fetch): Calls {
  async function send(method: string, path: string, headers = {}, body?: Json): Promise<Answer> {
    const typed = body === undefined ? headers : { 'Content-Type': 'application/json', ...headers };
    const url = path.startsWith('http') ? path : `${base}${path}`;
    const init = {
      method,
      headers: typed,
      redirect: 'manual',
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    } as const;
    const response = await handle(new Request(url, init));
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    const { status, headers: answered } = response;
    const read: Body = isJson && text !== '' ? JSON.parse(text) : {};
    const answer = { status, headers: answered, text, body: read };
    described.checkAt(method, url, answer);
    return answer;
  }
  return {
    send,
    get: (path, headers) => send('GET', path, headers),
    post: (path, body, headers) => send('POST', path, headers, body),
    async make(path, body) {
      const answer = await send('POST', path, {}, body);
      expect(answer.status, answer.text).to.equal(201);
      return answer.body;
    },
  };
}

/** Expects a problem with this status and code, and returns its body. */
export function expectProblem(answer: Answer, status: number, code: string, base = ''): Body {
  const { body, headers } = answer;
  expect([answer.status, body.code], answer.text).to.deep.equal([status, code]);
  expect(headers.get('content-type')).to.match(/^application\/problem\+json(;|$)/);
  expect(headers.get('cache-control')).to.equal('no-store');
  expect(body).to.include({ type: `${base}/problems/${code}`, status });
  expect(body.title).to.be.a('string').that.is.not.empty;
  expect(body.error)
    .to.be.a('string')
    .that.matches(/\S.*[.?)]$/);
  expect(body.detail).to.equal(body.error);
  expect(body.requestId).to.equal(headers.get('x-request-id'));
  return body;
}
