import assert from 'node:assert/strict';
import type { Store } from '../ports/store.ts';
import { race, raises } from './assertions.ts';
import { claim, post, times, user } from './fixtures.ts';
import type { Suite } from './suite.ts';

const order = { by: 'createdAt', direction: 'asc' } as const;

/** The life of a store: ready, under way, closed. */
export function describeLifecycle({ group, test }: Suite): void {
  group('lifecycle', () => {
    test('a fresh store is ready and empty', async (store) => {
      await store.ready();
      await store.ready();
      assert.deepEqual((await store.users.list({}, { order, limit: 1 })).items, []);
      assert.deepEqual((await store.posts.list({}, { order, limit: 1 })).items, []);
    });

    for (const turn of ['one', 'another']) {
      test(`each store that is opened is fresh: ${turn}`, async (store) => {
        assert.equal(await store.users.get('left'), undefined);
        assert.equal(await store.posts.replay(claim({ key: 'left' })), undefined);
        await store.users.create(user({ id: 'left', email: 'left@example.com' }));
        await store.posts.create(post({ id: 'left' }), claim({ key: 'left' }));
      });
    }

    test('closing again does nothing', async (store) => {
      await store.close();
      await store.close();
      await Promise.all([store.close(), store.close()]);
    });

    test('closing twice at once closes once', async (store) => {
      await Promise.all([store.close(), store.close()]);
    });

    test('Symbol.asyncDispose closes', async (store) => {
      await store[Symbol.asyncDispose]();
      await raises(store.ready(), 'store-unavailable');
      await raises(store.users.get('any'), 'store-unavailable');
      await store[Symbol.asyncDispose]();
      await store.close();
    });

    test('after close, every call ends in store-unavailable, and changed nothing', async (store) => {
      const [author, record] = [user(), post()];
      await store.users.create(author);
      await store.posts.create(record);
      await store.close();
      for (const [name, call] of everyCall(store, author.id, record.id)) {
        const { outcome } = await raises(call(), 'store-unavailable');
        assert.equal(outcome, 'none', `outcome of ${name}`);
      }
    });

    test('changes that are under way come to their end before a store is closed', async (store) => {
      const author = user();
      await store.users.create(author);
      let ended = 0;
      const many = times(300, () => ({ record: user(), version: 1 }));
      const changes = times(20, async (n) => {
        if (n === 0) await store.users.load(many);
        else if (n % 3 === 0) await store.users.create(user());
        else if (n % 3 === 1) await store.posts.create(post({ authorId: author.id }), claim());
        else await store.users.update(author.id, ({ record }) => ({ ...record, n }));
        ended++;
      });
      const closed = store.close().then(() => ended);
      const { returned } = await race(changes);
      assert.equal(returned.length, 20, 'a change that had begun was not made');
      assert.equal(await closed, 20, 'the store was closed before its changes had ended');
    });
  });
}

function everyCall(
  store: Store,
  userId: string,
  postId: string,
): [string, () => Promise<unknown>][] {
  const { users, posts } = store;
  const unwanted = (): never => assert.fail('a decision was asked for after close');
  return [
    ['ready', () => store.ready()],
    ['users.get', () => users.get(userId)],
    ['users.list', () => users.list({}, { order, limit: 1 })],
    ['users.create', () => users.create(user())],
    ['users.create with a claim', () => users.create(user(), claim())],
    ['users.replay', () => users.replay(claim())],
    ['users.update', () => users.update(userId, unwanted)],
    ['users.scan', () => users.scan(1)],
    ['users.load', () => users.load([{ record: user(), version: 1 }])],
    ['users.delete', () => users.delete(userId, { posts: 'delete' }, unwanted)],
    ['posts.get', () => posts.get(postId)],
    ['posts.list', () => posts.list({}, { order, limit: 1 })],
    ['posts.create', () => posts.create(post())],
    ['posts.create with a claim', () => posts.create(post(), claim())],
    ['posts.replay', () => posts.replay(claim())],
    ['posts.update', () => posts.update(postId, unwanted)],
    ['posts.scan', () => posts.scan(1)],
    ['posts.load', () => posts.load([{ record: post(), version: 1 }])],
    ['posts.delete', () => posts.delete(postId, unwanted)],
  ];
}
