import { expect } from 'chai';
import { endpointsFor } from '../../../../src/adapters/http/endpoints/index.ts';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import { createRostrum, type Scope, scopes } from '../../../../src/index.ts';
import { type Api, startApi } from '../support/api.ts';
import { as, authenticate } from '../support/callers.ts';

const endpoints = endpointsFor({});

const ofUsers = ['users:write', 'users:write:own'] as const;
const ofPosts = ['posts:write', 'posts:write:own'] as const;
const reader = ['users:read', 'users:read:public'] as const;

/** Written by hand, so that no scope opens an endpoint by accident. */
const declared: Readonly<Record<string, readonly Scope[]>> = {
  ...{ getMe: [...reader, 'users:write:own'], putMe: ofUsers, patchMe: ofUsers, deleteMe: ofUsers },
  ...{ listUsers: reader, createUser: ['users:write'] },
  ...{ getUser: [...reader, 'users:write:own'], replaceUser: ofUsers },
  ...{ patchUser: ofUsers, deleteUser: ofUsers },
  ...{ listPosts: ['posts:read', 'posts:read:all'], getPost: ['posts:read', 'posts:read:all'] },
  listEvents: ['users:read', 'posts:read:all', 'posts:write'],
  ...{ createPost: ofPosts, replacePost: ofPosts, patchPost: ofPosts, deletePost: ofPosts },
};

// rights.ts lists what each scope allows.

describe('every endpoint', () => {
  const store = createMemoryStore();
  const { users, posts } = createRostrum(store);
  let api: Api;
  before(async () => {
    api = await startApi({ store, app: { authenticate } });
  });
  after(() => api[Symbol.asyncDispose]());

  for (const { operation, method, path, body, scopes: own } of endpoints) {
    it(`${operation} returns 401 without credentials, and without the scope 403, even for unknown ids`, async () => {
      expect(own).to.deep.equal(declared[operation]);
      const wrong = [undefined, '', 'Bearer', 'Bearer x', 'Basic eyJ9'];
      for (const text of wrong) {
        const headers = text === undefined ? {} : { Authorization: text };
        const answer = await api.send(method, path.replace(':id', 'any'), headers, body && {});
        expect([answer.status, answer.body.code]).to.deep.equal([401, 'unauthenticated']);
      }
      const others = as({ scopes: scopes.filter((scope) => !own.includes(scope)) });
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
