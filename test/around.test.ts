import { expect } from 'chai';
import { z } from 'zod';
import {
  closeContainer,
  createContainer,
  override,
  tokens,
} from '../src/adapters/inversify/index.ts';
import { createMemoryStore } from '../src/adapters/memory/index.ts';
import {
  type AnyServices,
  type Around,
  type Caller,
  type Change,
  type Created,
  createRostrum,
  isRostrumError,
  type PostService,
  type Rostrum,
  RostrumError,
  type Services,
  type UserService,
} from '../src/index.ts';
import { startApi } from './adapters/http/support/api.ts';
import { as, authenticate } from './adapters/http/support/callers.ts';
import { errorOf } from './support/error-of.ts';

/** Records each change with its caller, and how many posts were affected by the deletion of a user. */
function auditTo(lines: string[]): Around {
  return (services, caller) => {
    const by = caller?.name ?? 'the program';
    const made =
      <C extends Created<{ id: string }>>(what: string) =>
      (creation: C) => {
        if (!creation.replayed) lines.push(`${by}: create ${what}`);
        return creation;
      };
    const changed =
      <C extends Change<{ id: string }>>(what: string) =>
      (change: C) => {
        if (change.changed) lines.push(`${by}: ${what} to version ${change.version}`);
        return change;
      };
    const { users, posts } = services;
    return {
      users: {
        ...users,
        create: (...given) => users.create(...given).then(made('a user')),
        replace: (...given) => users.replace(...given).then(changed('replace')),
        patch: (...given) => users.patch(...given).then(changed('patch')),
        update: (...given) => users.update(...given).then(changed('update')),
        saveOwn: (...given) => users.saveOwn(...given).then(changed('save')),
        async delete(id, options) {
          const deletion = await users.delete(id, options);
          lines.push(`${by}: delete a user and ${options?.posts ?? 'refuse'} ${deletion.posts}`);
          return deletion;
        },
      },
      posts: { ...posts, create: (...given) => posts.create(...given).then(made('a post')) },
    };
  };
}

/**
 * Creates a user, updates it, creates two posts and deletes the user. Repeats two calls, which change nothing.
 */
async function work({ users, posts }: Services): Promise<void> {
  const { id } = (await users.create({ name: 'Ada' }, { idempotencyKey: 'once' })).record;
  await users.create({ name: 'Ada' }, { idempotencyKey: 'once' });
  await users.patch(id, { name: 'Ada L.' });
  await users.patch(id, { name: 'Ada L.' });
  for (const title of ['One', 'Two']) await posts.create({ title, authorId: id });
  await users.delete(id, { posts: 'keep' });
}

const worked = (by: string) => [
  `${by}: create a user`,
  `${by}: patch to version 2`,
  `${by}: create a post`,
  `${by}: create a post`,
  `${by}: delete a user and keep 2`,
];

const scopes: Caller['scopes'] = new Set(['users:read', 'users:write', 'posts:write']);
const caller: Caller = { name: 'desk', subject: null, scopes };

describe('an audit written with the around option', () => {
  it('records every change once in the library, with and without a caller', async () => {
    const lines: string[] = [];
    const rostrum = createRostrum(createMemoryStore(), { around: auditTo(lines) });
    await work(rostrum);
    await work(rostrum.as(caller));
    await work(rostrum.as(caller).as({ ...caller, name: 'other' }));
    expect(lines).to.deep.equal([...worked('the program'), ...worked('desk'), ...worked('other')]);
  });

  it('records every change once over HTTP, with and without a caller', async () => {
    for (const [by, app, headers] of [
      ['the program', {}, {}],
      ['desk', { authenticate }, as({ name: 'desk', scopes: [...scopes] })],
    ] as const) {
      const lines: string[] = [];
      await using api = await startApi({ core: { around: auditTo(lines) }, app });
      const once = { ...headers, 'Idempotency-Key': 'once' };
      const ada = await api.post('/users', { name: 'Ada' }, once);
      await api.post('/users', { name: 'Ada' }, once);
      const path = `/users/${ada.body.id}`;
      await api.send('PATCH', path, headers, { name: 'Ada L.' });
      await api.send('PATCH', path, headers, { name: 'Ada L.' });
      for (const title of ['One', 'Two']) {
        await api.post('/posts', { title, authorId: ada.body.id }, headers);
      }
      const deleted = await api.send('DELETE', `${path}?posts=keep`, headers);
      expect(deleted.body).to.deep.equal({ deleted: true });
      expect(lines).to.deep.equal(worked(by));
    }
  });

  it('records every change once in the container', async () => {
    const lines: string[] = [];
    const container = createContainer(
      { store: 'memory:', logLevel: 'silent' },
      override(tokens.around, () => auditTo(lines)),
    );
    const rostrum = await container.getAsync(tokens.rostrum);
    await work(rostrum);
    await work(rostrum.as(caller));
    await closeContainer(container);
    expect(lines).to.deep.equal([...worked('the program'), ...worked('desk')]);
  });
});

describe('the services', () => {
  it('have methods that can be destructured', async () => {
    const { users, posts } = createRostrum(createMemoryStore());
    const { create, get, list, all, replace, patch, update } = users;
    const { id } = (await create({ name: 'Ada' })).record;
    await replace(id, { name: 'Bo' });
    await patch(id, { email: 'bo@example.com' });
    await update(id, (user) => ({ ...user, n: 1 }));
    expect(await get(id)).to.include({ version: 4 });
    expect((await list()).items).to.have.length(1);
    for await (const { record } of all()) expect(record.n).to.equal(1);
    const [removeUser, { create: publish, delete: removePost }] = [users.delete, posts];
    const post = await publish({ title: 'x', authorId: id });
    await removePost(post.record.id);
    expect(await removeUser(id)).to.deep.equal({ posts: 0 });
  });

  it('can be wrapped with a spread or a Proxy', async () => {
    const calls: string[] = [];
    const seen = <S extends object>(service: S): S =>
      new Proxy(service, {
        get(target, name, receiver) {
          calls.push(String(name));
          return Reflect.get(target, name, receiver);
        },
      });
    const { users } = createRostrum(createMemoryStore());
    const spread: UserService = { ...users, get: () => Promise.reject(new Error('hidden')) };
    const { id } = (await seen(spread).create({ name: 'Ada' })).record;
    expect(await seen(users).get(id)).to.include({ version: 1 });
    expect(await seen(spread).get(id).catch(String)).to.equal('Error: hidden');
    expect(calls).to.deep.equal(['create', 'get', 'get']);
  });

  it('can be wrapped with a Proxy for every caller', async () => {
    const calls: string[] = [];
    const around: Around = (services, by) => {
      const watched = <S extends object>(service: S): S =>
        new Proxy(service, {
          get(target, name) {
            const call: unknown = Reflect.get(target, name);
            if (typeof call !== 'function') return call;
            return (...given: unknown[]) => {
              calls.push(`${by?.name} ${String(name)}`);
              return call(...given);
            };
          },
        });
      return { users: watched(services.users), posts: watched(services.posts) };
    };
    const rostrum: Rostrum = createRostrum(createMemoryStore(), { around });
    await rostrum.as(caller).users.list();
    await rostrum.posts.list();
    expect(calls).to.deep.equal(['desk list', 'undefined list']);
  });

  it('can be wrapped with a rule that reads records hidden from the caller', async () => {
    const around: Around = (services, by, all) => {
      if (by === undefined) return services;
      const posts: PostService = {
        ...services.posts,
        async create(input, options) {
          const { total = 0 } = await all.posts.list({
            filter: { publishedAt: null },
            total: true,
          });
          if (total > 0) throw new RostrumError('refused', { reason: 'Publish the draft first.' });
          return services.posts.create(input, options);
        },
      };
      return { ...services, posts };
    };
    const rostrum = createRostrum(createMemoryStore(), { around });
    await rostrum.posts.create({ title: 'Draft', publishedAt: null });
    const writer = rostrum.as({ name: 'writer', subject: null, scopes: ['posts:write'] });
    const error = await errorOf(writer.posts.create({ title: 'Next' }));
    expect(isRostrumError(error, 'refused') && error.message).to.equal('Publish the draft first.');
  });

  it('can be wrapped by typed functions and by a generic one', async () => {
    const lines: string[] = [];
    const noted = <S extends AnyServices>(services: S, by: Caller | undefined): S => {
      const { users } = services;
      return {
        ...services,
        users: {
          ...users,
          async update(id, change, precondition) {
            const changed = await users.update(id, change, precondition);
            lines.push(`${by?.name} to version ${changed.version}`);
            return changed;
          },
        },
      };
    };
    const rostrum = createRostrum(createMemoryStore(), {
      around: (services, by) => {
        const { users, posts } = noted(services, by);
        return {
          posts,
          users: {
            ...users,
            async create(input, options) {
              const made = await users.create({ ...input, born: input.born + 1 }, options);
              lines.push(`born ${made.record.born}`);
              return made;
            },
            async update(id, change, precondition) {
              return users.update(id, change, precondition);
            },
          },
        };
      },
      customFields: { users: z.strictObject({ born: z.int(), tag: z.string().optional() }) },
    });
    const { users } = rostrum.as({ ...caller, scopes: ['users:write', 'users:read'] });
    const { id } = (await users.create({ name: 'Ada', born: 1814 })).record;
    await users.update(id, (user) => ({ ...user, tag: 'x' }));
    expect(lines).to.deep.equal(['born 1815', 'desk to version 2']);
  });

  it('can be replaced with fakes that only use public types', async () => {
    const none = () => Promise.reject(new Error('The fake has none.'));
    const record = { id: 'u', name: 'Ada', email: null, createdAt: '', updatedAt: '' };
    const ada = { record, version: 1, json: JSON.stringify(record) };
    const shared = {
      get: none,
      list: async () => ({ items: [] }),
      async *all() {},
      replace: none,
      patch: none,
      update: none,
    };
    const users = {
      ...shared,
      get: async () => ada,
      create: async () => ({ ...ada, id: 'u', replayed: false }),
      getPublic: none,
      listPublic: async () => ({ items: [] }),
      saveOwn: none,
      delete: async () => ({ posts: 0 }),
    } satisfies UserService;
    const listWithAuthors = async () => ({ items: [], users: [] });
    const posts = {
      ...{ ...shared, listWithAuthors, create: none, delete: none },
    } satisfies PostService;
    const services: Services = { users, posts };
    expect(await services.users.get('u')).to.equal(ada);
  });

  it('reject a wrapper that does not return both services', () => {
    const wrong: readonly unknown[] = [
      () => undefined,
      async (services: Services) => services,
      ({ users }: Services) => ({ users }),
    ];
    for (const around of wrong) {
      const create = () => createRostrum(createMemoryStore(), { around: around as never });
      expect(create).to.throw(TypeError, 'The option "around" must return { users, posts }.');
    }
  });
});
