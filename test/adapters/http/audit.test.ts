import { expect } from 'chai';
import { type Api, startApi } from './support/api.ts';
import { as, authenticate } from './support/callers.ts';
import { keepLog } from './support/log.ts';

describe('the audit trail', () => {
  const ada = as({
    name: 'key:ada',
    scopes: ['users:read', 'users:write', 'posts:read', 'posts:write'],
  });
  const { logger, lines } = keepLog();
  let api: Api;
  before(async () => {
    api = await startApi({ app: { logger, authenticate, accessLog: false } });
  });
  after(() => api[Symbol.asyncDispose]());
  beforeEach(() => {
    lines.length = 0;
  });

  /** Returns the audit lines of a request, without the fields that all lines share. */
  async function linesOf(...[method, path, headers, body]: Parameters<Api['send']>) {
    const before = lines.length;
    const { status, body: answer } = await api.send(
      method,
      path,
      { ...ada, 'X-Request-Id': 'r', ...headers },
      body,
    );
    const own = lines
      .slice(before)
      .map(({ level, message, address, caller, requestId, ...line }) => {
        const shared = [level, message, address, caller, requestId];
        expect(shared).to.deep.equal(['info', 'change', '127.0.0.1', 'key:ada', 'r']);
        return line;
      });
    return { status, id: answer.id, lines: own };
  }

  it('logs each change with its caller, record and request', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const made = await linesOf('POST', '/users', { traceparent }, { name: 'Ada' });
    const { id } = made;
    const user = { collection: 'users', id };
    expect(made.lines).to.deep.equal([
      {
        ...{ endpoint: 'createUser', ...user, version: 1 },
        traceId: '0af7651916cd43dd8448eb211c80319c',
      },
    ]);
    const [put, patch, post, remove] = [
      await linesOf('PUT', `/users/${id}`, {}, { name: 'Ada L.' }),
      await linesOf('PATCH', `/users/${id}`, { Prefer: 'return=minimal' }, { name: 'A' }),
      await linesOf('POST', '/posts', {}, { title: 'x', authorId: id }),
      await linesOf('DELETE', `/users/${id}?posts=keep`),
    ];
    expect(put.lines).to.deep.equal([{ endpoint: 'replaceUser', ...user, version: 2 }]);
    expect(patch.lines).to.deep.equal([{ endpoint: 'patchUser', ...user, version: 3 }]);
    const of = { collection: 'posts', id: post.id };
    expect(post.lines).to.deep.equal([{ endpoint: 'createPost', ...of, version: 1 }]);
    expect(remove.lines).to.deep.equal([{ endpoint: 'deleteUser', ...user, posts: 'keep' }]);
    const gone = await linesOf('DELETE', `/posts/${post.id}`);
    expect(gone.lines).to.deep.equal([{ endpoint: 'deletePost', ...of }]);
  });

  it('logs nothing for reads, rejected requests, replays and updates that change nothing', async () => {
    const key = { 'Idempotency-Key': 'k' };
    const { id } = await linesOf('POST', '/users', key, { name: 'Ada', email: 'a@x.org' });
    const requests: [number, ...Parameters<Api['send']>][] = [
      [201, 'POST', '/users', key, { name: 'Ada', email: 'a@x.org' }],
      [409, 'POST', '/users', {}, { name: 'Bo', email: 'a@x.org' }],
      [422, 'POST', '/users', {}, { name: '' }],
      [200, 'PATCH', `/users/${id}`, {}, { name: 'Ada' }],
      [200, 'PUT', `/users/${id}`, {}, { name: 'Ada', email: 'a@x.org' }],
      [412, 'PATCH', `/users/${id}`, { 'If-Match': '"9"' }, { name: 'B' }],
      [412, 'DELETE', `/users/${id}`, { 'If-Match': '"9"' }],
      [404, 'DELETE', '/users/none'],
      [403, 'DELETE', `/users/${id}`, as({ scopes: ['users:read'] })],
      [200, 'GET', `/users/${id}`],
      [200, 'GET', '/users'],
    ];
    for (const [status, ...request] of requests) {
      const { status: answered, lines: own } = await linesOf(...request);
      expect([answered, own], `${request[0]} ${request[1]}`).to.deep.equal([status, []]);
    }
  });
});
