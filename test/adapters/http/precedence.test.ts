import { expect } from 'chai';
import { maxBodyBytes } from '../../../src/adapters/http/sizes.ts';
import { scopes } from '../../../src/index.ts';
import { type Api, startApi } from './support/api.ts';
import { as, authenticate } from './support/callers.ts';

/** Parts of a POST or PUT that are wrong. The server reports the first error in this order. */
interface Wrongs {
  readonly path?: string;
  readonly method?: string;
  readonly caller?: Record<string, string>;
  readonly query?: string;
  readonly headers?: Record<string, string>;
  readonly type?: string;
  readonly body?: string;
}

const everything = as({ scopes });

const tooLarge = `{"name":"${'x'.repeat(maxBodyBytes)}"}`;

/** In the order in which errors are reported. */
const creation: readonly (readonly [code: string, wrongs: Wrongs])[] = [
  ['invalid-path', { path: '/users/%ZZ' }],
  ['path-not-found', { path: '/nothing' }],
  ['method-not-allowed', { method: 'PUT' }],
  ['unauthenticated', { caller: {} }],
  ['forbidden', { caller: as({ scopes: [] }) }],
  ['invalid-query', { query: '?x=1' }],
  ['invalid-header', { headers: { 'Idempotency-Key': 'a b' } }],
  ['unsupported-media-type', { type: 'text/plain' }],
  ['body-too-large', { body: tooLarge }],
  ['invalid-body', { body: '[' }],
  ['invalid-record', { body: '{"name":"","email":"taken@x.org"}' }],
  ['idempotency-key-reused', { headers: { 'Idempotency-Key': 'used' } }],
  ['email-taken', { body: '{"name":"Bea","email":"taken@x.org"}' }],
];

const change: readonly (readonly [code: string, wrongs: Wrongs])[] = [
  ['invalid-path', { path: '/users/%ZZ' }],
  ['path-not-found', { path: '/users/x/y' }],
  ['method-not-allowed', { method: 'POST' }],
  ['unauthenticated', { caller: { Authorization: 'Bearer x' } }],
  ['forbidden', { caller: as({ scopes: ['users:read'] }) }],
  ['invalid-query', { query: '?posts=keep' }],
  ['invalid-header', { headers: { 'If-Match': '1' } }],
  ['unsupported-media-type', { type: 'text/plain' }],
  ['body-too-large', { body: tooLarge }],
  ['invalid-body', { body: '[]' }],
  ['user-not-found', { path: '/users/nobody' }],
  ['forbidden', { caller: as({ subject: 'other', scopes: ['users:read', 'users:write:own'] }) }],
  ['precondition-required', { headers: {} }],
  ['version-mismatch', { headers: { 'If-Match': '"9"' } }],
  ['invalid-record', { body: '{"name":"","email":"taken@x.org"}' }],
  ['email-taken', { body: '{"name":"Bea","email":"taken@x.org"}' }],
];

describe('the precedence of errors', () => {
  let api: Api;
  let user = '';
  before(async () => {
    api = await startApi({ app: { authenticate, requireIfMatch: true } });
    await api.post('/users', { name: 'Eve', email: 'taken@x.org' }, everything);
    await api.post('/users', { name: 'Used' }, { ...everything, 'Idempotency-Key': 'used' });
    user = `/users/${(await api.post('/users', { name: 'Ann' }, everything)).body.id}`;
  });
  after(() => api[Symbol.asyncDispose]());

  async function codeOf(right: Required<Wrongs>, ...wrongs: readonly Wrongs[]): Promise<string> {
    const request = Object.assign({}, right, ...wrongs);
    const { method, path, caller, query, type, body } = request;
    const headers = { 'Content-Type': type, ...caller, ...request.headers };
    return (await api.send(method, path + query, headers, body)).body.code;
  }

  function itAnswersInOrder(
    name: string,
    order: readonly (readonly [string, Wrongs])[],
    right: () => Required<Wrongs>,
  ): void {
    for (const [i, [code, wrong]] of order.entries()) {
      it(`${name}: ${code} is reported before every later error`, async () => {
        expect(await codeOf(right(), wrong), 'alone').to.equal(code);
        for (const [later, other] of order.slice(i + 1)) {
          // One part of a request cannot be wrong in two ways at once.
          if (Object.keys(other).some((part) => part in wrong)) continue;
          expect(await codeOf(right(), other, wrong), `with ${later}`).to.equal(code);
        }
      });
    }
  }

  itAnswersInOrder('POST', creation, () => ({
    method: 'POST',
    path: '/users',
    caller: everything,
    query: '',
    headers: {},
    type: 'application/json',
    body: '{"name":"Ann"}',
  }));

  itAnswersInOrder('PUT', change, () => ({
    method: 'PUT',
    path: user,
    caller: everything,
    query: '',
    headers: { 'If-Match': '"1"' },
    type: 'application/json',
    body: '{"name":"Ann"}',
  }));

  it('DELETE reports 404 before 428, 412 and 409', async () => {
    await api.post('/posts', { title: 'x', authorId: user.slice(7) }, everything);
    const code = async (path: string, headers = {}) =>
      (await api.send('DELETE', path, { ...everything, ...headers })).body.code;
    expect(await code('/users/nobody')).to.equal('user-not-found');
    expect(await code('/users/nobody', { 'If-Match': '"9"' })).to.equal('user-not-found');
    expect(await code(user)).to.equal('precondition-required');
    expect(await code(user, { 'If-Match': '"9"' })).to.equal('version-mismatch');
    expect(await code(user, { 'If-Match': '"1"' })).to.equal('user-has-posts');
    expect(await code(`${user}?posts=x`, { 'If-Match': '1' })).to.equal('invalid-query');
  });
});
