import { expect } from 'chai';
import type { Endpoint } from '../../../../src/adapters/http/endpoint.ts';
import { endpoints } from '../../../../src/adapters/http/endpoints/table.ts';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import { createRostrum, type Scope, scopes } from '../../../../src/index.ts';
import { type Api, startApi } from '../support/api.ts';
import { as, authenticate } from '../support/callers.ts';

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

// Who owns what, and what that allows, is the core's: test/domain/access.test.ts.

describe('every endpoint', () => {
  const store = createMemoryStore();
  const { users, posts } = createRostrum(store);
  let api: Api;
  before(async () => {
    api = await startApi({ store, app: { authenticate } });
  });
  after(() => api[Symbol.asyncDispose]());

  /** Sends what is right in itself, to a record of the caller or of another user. */
  async function call(endpoint: Endpoint, given: readonly Scope[], isOwn: boolean) {
    const subject = (await users.create({ name: 'Me' })).record.id;
    const other = (await users.create({ name: 'Other' })).record.id;
    const owner = isOwn ? subject : other;
    const isPost = endpoint.path.startsWith('/posts');
    const made = isPost ? await posts.create({ title: 'A', authorId: owner }) : undefined;
    const id = made?.record.id ?? owner;
    const answer = await api.send(
      endpoint.method,
      endpoint.path.replace(':id', id),
      as({ subject, scopes: given }),
      endpoint.body && { name: 'Bea', title: 'B', ...(isPost && { authorId: owner }) },
    );
    const after = await (isPost ? store.posts : store.users).get(id);
    return { answer, isChanged: after?.version !== 1 };
  }

  for (const endpoint of endpoints) {
    const { operation, method, path, body } = endpoint;
    const [always, own] = rules[operation] ?? [];
    const declared = [always, own].filter((scope) => scope !== undefined);

    it(`${operation} is for ${declared.join(', and for what is its own ')}`, async () => {
      expect(endpoint.scopes).to.deep.equal(declared);
      const others = scopes.filter((scope) => !declared.includes(scope));
      for (const [given, isOwn, may] of [
        [others, true, false],
        [declared.slice(0, 1), false, true],
        [declared.slice(1), true, own !== undefined],
        [declared.slice(1), false, false],
      ] as const) {
        const { answer, isChanged } = await call(endpoint, given, isOwn);
        expect(answer.status, `${given} ${isOwn}`).to.equal(may ? okOf(endpoint) : 403);
        if (may) continue;
        expect([answer.body.code, isChanged]).to.deep.equal(['forbidden', false]);
        expect(answer.headers.get('www-authenticate')).to.equal(
          `Bearer error="insufficient_scope", scope="${always}"`,
        );
      }
    });

    it(`${operation} is closed without credentials, and without the scope tells nothing`, async () => {
      const wrong = [undefined, '', 'Bearer', 'Bearer x', 'Basic eyJ9'];
      for (const text of wrong) {
        const headers = text === undefined ? {} : { Authorization: text };
        const answer = await api.send(method, path.replace(':id', 'any'), headers, body && {});
        expect([answer.status, answer.body.code]).to.deep.equal([401, 'unauthenticated']);
      }
      const others = as({ scopes: scopes.filter((scope) => !declared.includes(scope)) });
      const headers = { ...others, 'If-Match': '"7"', 'X-Request-Id': 'one' };
      const { record } = await users.create({ name: 'Real' });
      const post = await posts.create({ title: 'Real' });
      const real = path.startsWith('/posts') ? post.record.id : record.id;
      const [there, not] = await Promise.all(
        [real, 'none'].map((id) => api.send(method, path.replace(':id', id), headers, body && {})),
      );
      expect([there?.status, there?.text]).to.deep.equal([403, not?.text]);
    });
  }
});

function okOf({ responses }: Endpoint): number {
  return Number(Object.keys(responses)[0]);
}
