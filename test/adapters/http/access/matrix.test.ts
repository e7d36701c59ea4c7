import { expect } from 'chai';
import type { Endpoint } from '../../../../src/adapters/http/endpoint.ts';
import { endpoints } from '../../../../src/adapters/http/endpoints/table.ts';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import { createRostrum, type Scope, scopes } from '../../../../src/index.ts';
import { type Api, startApi } from '../support/api.ts';
import { as, authenticate, type TestCaller } from '../support/callers.ts';

type Owner = 'the caller' | 'somebody else' | 'nobody';

const everybody: readonly Owner[] = ['the caller', 'somebody else', 'nobody'];

/** The table of docs/security.md, by hand: what is always enough, and what is for one's own. */
const rules: Readonly<Record<string, readonly [always: Scope, own?: Scope]>> = {
  listUsers: ['users:read'],
  createUser: ['users:write'],
  getUser: ['users:read'],
  replaceUser: ['users:write', 'users:write:own'],
  patchUser: ['users:write', 'users:write:own'],
  deleteUser: ['users:write', 'users:write:own'],
  listPosts: ['posts:read'],
  createPost: ['posts:write', 'posts:write:own'],
  getPost: ['posts:read'],
  replacePost: ['posts:write', 'posts:write:own'],
  patchPost: ['posts:write', 'posts:write:own'],
  deletePost: ['posts:write', 'posts:write:own'],
};

describe('every endpoint, for every caller, on records of every owner', () => {
  const store = createMemoryStore();
  const { users, posts } = createRostrum(store);
  let api: Api;
  before(async () => {
    api = await startApi({ store, app: { authenticate } });
  });
  after(() => api[Symbol.asyncDispose]());

  /** Sends what is right in itself to a record of its own, and says what came of it. */
  async function call(endpoint: Endpoint, given: readonly Scope[], owner: Owner, isUser = true) {
    const me = (await users.create({ name: 'Me' })).record.id;
    const other = (await users.create({ name: 'Other' })).record.id;
    const subject = isUser ? me : null;
    const authorId = { 'the caller': me, 'somebody else': other, nobody: null }[owner];
    const isPost = endpoint.path.startsWith('/posts');
    const post = await posts.create({ title: 'A', authorId: isPost ? authorId : null });
    const id = isPost ? post.record.id : (authorId ?? other);
    const before = isPost ? await posts.get(id) : await users.get(id);
    const answer = await api.send(
      endpoint.method,
      endpoint.path.replace(':id', id),
      as({ subject, scopes: given }),
      endpoint.body && { name: 'Bea', title: 'B', ...(isPost && { authorId }) },
    );
    const repository = isPost ? store.posts : store.users;
    return { answer, isChanged: (await repository.get(id))?.json !== before.json };
  }

  for (const endpoint of endpoints) {
    const [always, own] = rules[endpoint.operation] ?? [];

    it(`${endpoint.operation} declares the scopes of the table`, () => {
      const declared = own === undefined ? [always] : [always, own];
      expect(endpoint.scopes).to.deep.equal(declared);
    });

    it(`${endpoint.operation} is for who has the scope, or owns the record`, async () => {
      for (const given of [[], ...scopes.map((one) => [one])]) {
        for (const owner of everybody) {
          for (const isUser of [true, false]) {
            const [scope] = given;
            const owns = owner === 'the caller' && isUser;
            const may = scope !== undefined && (scope === always || (scope === own && owns));
            const { answer, isChanged } = await call(endpoint, given, owner, isUser);
            const what = `${given} on a record of ${owner}, ${isUser ? 'as' : 'without'} a user`;
            expect(answer.status, what).to.equal(may ? okOf(endpoint) : 403);
            if (may) continue;
            expect(isChanged, what).to.equal(false);
            expect(answer.body.code).to.equal('forbidden');
            expect(answer.headers.get('www-authenticate')).to.equal(
              `Bearer error="insufficient_scope", scope="${always}"`,
            );
          }
        }
      }
    });

    it(`${endpoint.operation} is for nobody without credentials`, async () => {
      const wrong: Record<string, string>[] = [
        {},
        { Authorization: '' },
        { Authorization: 'Bearer' },
        { Authorization: 'Bearer x' },
        { Authorization: 'Basic eyJ9' },
      ];
      for (const headers of wrong) {
        const path = endpoint.path.replace(':id', 'any');
        const answer = await api.send(endpoint.method, path, headers, endpoint.body && {});
        expect([answer.status, answer.body.code]).to.deep.equal([401, 'unauthenticated']);
      }
    });

    it(`${endpoint.operation} does not tell those without the scope what there is`, async () => {
      const caller: Partial<TestCaller> = {
        scopes: scopes.filter((one) => one !== always && one !== own),
      };
      const { record } = await users.create({ name: 'Real' });
      const post = await posts.create({ title: 'Real' });
      const real = endpoint.path.startsWith('/posts') ? post.record.id : record.id;
      const told = await Promise.all(
        [real, 'none'].map(async (id) => {
          const path = endpoint.path.replace(':id', id);
          const headers = { ...as(caller), 'If-Match': '"7"', 'X-Request-Id': 'one' };
          const { status, text } = await api.send(
            endpoint.method,
            path,
            headers,
            endpoint.body && {},
          );
          return [status, text];
        }),
      );
      expect(told[0]?.[0]).to.equal(403);
      expect(told[0]).to.deep.equal(told[1]);
    });
  }
});

function okOf({ responses }: Endpoint): number {
  return Number(Object.keys(responses)[0]);
}
