import { expect } from 'chai';
import { acceptedBodies, type Endpoint } from '../../../../src/adapters/http/endpoint.ts';
import { endpointsFor } from '../../../../src/adapters/http/endpoints/index.ts';
import { maxBodyBytes } from '../../../../src/adapters/http/sizes.ts';
import { scopes } from '../../../../src/index.ts';
import type { Body } from '../support/answer.ts';
import { type Api, startApi } from '../support/api.ts';
import { as, authenticate } from '../support/callers.ts';
import { DescriptionUnderTest } from '../support/description.ts';

const endpoints = endpointsFor({});

/** How a request differs from the default one, which succeeds. */
interface Wish {
  readonly id?: string;
  readonly query?: string;
  /** An empty value removes the header. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | object;
  /** Another host name for the server. */
  readonly host?: string;
  /** Whether the user has a post. */
  readonly isAuthor?: boolean;
  /** Whether the caller's own user exists. */
  readonly self?: 'there' | 'not yet';
}

const successes: Readonly<Record<string, Wish>> = {
  200: {},
  201: { self: 'not yet', headers: { 'If-Match': '' } },
  204: { headers: { Prefer: 'return=minimal' } },
  304: { headers: { 'If-None-Match': '*' } },
};

const failures: Readonly<Record<string, Wish>> = {
  'invalid-path': { id: '%ZZ' },
  'invalid-query': { query: '?order=title' },
  'invalid-cursor': { query: '?cursor=x' },
  'invalid-header': {
    headers: { 'If-Match': '1', 'Idempotency-Key': 'a b' },
  },
  unauthenticated: { headers: { Authorization: '' } },
  forbidden: { headers: { ...as({ scopes: [] }) } },
  'uri-too-long': { query: `?limit=${'1'.repeat(13_000)}` },
  'misdirected-request': { host: 'localhost' },
  'unsupported-media-type': { headers: { 'Content-Type': 'text/plain' } },
  'body-too-large': { body: `{"a":"${'x'.repeat(maxBodyBytes)}"}` },
  'invalid-body': { body: '[]' },
  'idempotency-key-reused': { headers: { 'Idempotency-Key': 'used' } },
  'user-not-found': { id: 'nobody', self: 'not yet' },
  'post-not-found': { id: 'nothing' },
  'version-mismatch': { headers: { 'If-Match': '"99"' } },
  'precondition-required': { headers: { 'If-Match': '' } },
  'invalid-record': { body: { name: 5, title: 5 } },
  'email-taken': { body: { name: 'Ann', email: 'taken@x.org' } },
  'user-has-posts': { isAuthor: true },
  'events-expired': { query: '?after=x' },
};

/** Responses that a single request cannot provoke, and the tests that check them. */
const elsewhere: Readonly<Record<string, string>> = {
  'listUsers 400 invalid-header': 'Authorization given twice: access/authentication.test.ts',
  'listPosts 400 invalid-header': 'Authorization given twice: access/authentication.test.ts',
  'bad-request': 'messages that are not HTTP: server/serve.test.ts',
  'request-timeout': 'requests that take too long: server/serve.test.ts',
  'headers-too-large': 'requests that Node rejects: server/serve.test.ts',
  'too-many-requests': 'limits: access/limits.test.ts',
  refused: 'a rule of the host: ../../around.test.ts',
  internal: 'unexpected errors: problems/problems.test.ts',
  'store-unavailable': 'a store that fails: problems/problems.test.ts',
  overloaded: 'requests that wait too long: limits.slow.ts',
  'credentials-unavailable': 'an identity provider that fails: access/authentication.test.ts',
  'events-unavailable': 'a store without a log: events.slow.ts',
  'listEvents 400 invalid-header': 'Authorization given twice: access/authentication.test.ts',
  'shutting-down': 'a server that closes: server/shutdown.test.ts',
};

// support/api.ts also checks the responses of all other tests against the description.
describe('responses match the OpenAPI description', function () {
  this.timeout(60_000);
  const everything = as({ scopes });
  let api: Api;
  let description: DescriptionUnderTest;

  before(async () => {
    const isOwnHost = (name: string) => name !== 'localhost';
    api = await startApi({ app: { authenticate, isOwnHost, requireIfMatch: true } });
    const { body } = await api.get(`${api.server.url}/openapi.json`);
    description = new DescriptionUnderTest(JSON.parse(JSON.stringify(body)));
    await make('/users', { name: 'Eve', email: 'taken@x.org' });
    for (const path of ['/users', '/posts']) {
      const headers = { ...everything, 'Idempotency-Key': 'used' };
      await api.post(path, { name: 'a', title: 'a' }, headers);
    }
  });
  after(() => api[Symbol.asyncDispose]());

  async function make(path: string, body: object): Promise<Body> {
    const { status, body: made } = await api.post(path, body, everything);
    expect(status).to.equal(201);
    return made;
  }

  let selves = 0;

  /** Returns the subject of a new caller, with or without a user. */
  async function makeSelf(state: Wish['self'] = 'there'): Promise<string> {
    const subject = `self-${++selves}`;
    const headers = as({ subject, scopes });
    if (state !== 'not yet') await api.send('PUT', '/users/me', headers, { name: 'Ann' });
    return subject;
  }

  async function call({ operation, method, path, body }: Endpoint, wish: Wish): Promise<void> {
    const isOwn = path === '/users/me';
    const collection = path === '/events' ? '/users' : path.replace('/:id', '');
    const madeId = isOwn
      ? await makeSelf(wish.self)
      : (await make(collection, { name: 'Ann', title: 'A' })).id;
    if (wish.isAuthor) await make('/posts', { title: 'Hers', authorId: madeId });
    const versions = method === 'GET' || method === 'POST' ? {} : { 'If-Match': '*' };
    const caller = isOwn ? as({ subject: madeId, scopes }) : everything;
    const wished = Object.entries({ ...caller, ...versions, ...wish.headers });
    const { port } = new URL(api.server.url);
    const origin = `http://${wish.host ?? '127.0.0.1'}:${port}`;
    const target = path.replace(':id', wish.id ?? madeId) + (wish.query ?? '');
    const answer = await api.send(
      method,
      `${origin}/api/v1${target}`,
      Object.fromEntries(wished.filter(([, value]) => value !== '')),
      body && (wish.body ?? { name: 'Bea', title: 'B' }),
    );
    description.check(operation, answer);
  }

  for (const endpoint of endpoints) {
    it(`for every status and error code of ${endpoint.operation}`, async () => {
      const own = description.promised.filter((one) => one.startsWith(`${endpoint.operation} `));
      expect(own).not.to.deep.equal([]);
      for (const one of own) {
        const [, status = '', code] = one.split(' ');
        if ([one, code].some((key) => key !== undefined && key in elsewhere)) continue;
        const wish = code === undefined ? successes[status] : failures[code];
        if (wish === undefined) throw new Error(`No request provokes ${one}.`);
        await call(endpoint, wish);
        expect([...description.seen]).to.include(one);
      }
    });
  }

  for (const { operation, method, path, body } of endpoints) {
    if (body === undefined) continue;
    it(`for ${operation} with its example`, async () => {
      await using empty = await startApi({ app: { authenticate } });
      const list = path.replace(/\/(:id|me)$/, '');
      const first = await empty.post(list, { name: 'Ann', title: 'A' }, everything);
      const caller = as({ subject: first.body.id, scopes });
      const samples = description.examplesOf(operation);
      expect([...samples.keys()]).to.deep.equal(acceptedBodies[method]?.types);
      for (const [type, example] of samples) {
        expect(example).to.be.an('object');
        const headers = { 'Content-Type': type, ...caller };
        const answer = await empty.send(
          method,
          path.replace(':id', first.body.id),
          headers,
          example as object,
        );
        expect(answer.status).to.equal(method === 'POST' ? 201 : 200);
        expect(answer.body).to.deep.include(example);
      }
    });
  }

  it('and its examples match its schemas', () => {
    const { document } = description;
    let count = 0;
    for (const [name, { examples = [] }] of Object.entries(document.components.schemas)) {
      for (const value of examples) {
        expect(description.complaintsOf(name, value)).to.equal('No errors');
        count += 1;
      }
    }
    expect(count).to.be.greaterThan(4);
  });

  it('which has an example for each parameter', () => {
    const { operations, document } = description;
    const parameters = Object.values(document.components.parameters);
    for (const one of [...operations.flatMap((operation) => operation.parameters), ...parameters]) {
      if (one.schema !== undefined) expect(one.schema.examples, one.name).to.have.length(1);
    }
  });
});
