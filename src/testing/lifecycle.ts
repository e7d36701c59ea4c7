import assert from 'node:assert/strict';
import { pageLimits } from '../domain/list.ts';
import { VersionedRecord } from '../domain/record.ts';
import type { Store } from '../ports/store.ts';
import type { Transfer } from '../ports/transfer.ts';
import { counts, makes, race, raises } from './assertions.ts';
import { later, post, receipt, times, user } from './fixtures.ts';
import { pageOf, put } from './lists.ts';
import type { Suite } from './suite.ts';

/** The life of a store: ready, under way, closed. */
export function describeLifecycle({ test }: Suite): void {
  test('a fresh store is ready and empty', async (store) => {
    await store.ready();
    await store.ready();
    assert.deepEqual((await pageOf(store.users)).items, []);
    assert.deepEqual((await pageOf(store.posts)).items, []);
  });

  for (const which of ['one', 'another']) {
    test(`each store that is opened is fresh: ${which}`, async (store) => {
      assert.equal(await store.users.get('left'), undefined);
      await put(store.users, [user({ id: 'left', email: 'left@example.com' })]);
      await makes(store.posts, post({ id: 'left' }), receipt({ key: 'left' }));
    });
  }

  test('closing again does nothing, at the same time too', async (store) => {
    await Promise.all([store.close(), store.close()]);
    await store.close();
    await store[Symbol.asyncDispose]();
  });

  test('Symbol.asyncDispose closes', async (store) => {
    await store[Symbol.asyncDispose]();
    await raises(store.ready(), 'store-unavailable');
    await raises(store.users.get('any'), 'store-unavailable');
  });

  test('after close, every call ends in store-unavailable, and changed nothing', async (store) => {
    const [author, record] = [user(), post()];
    await put(store.users, [author]);
    await put(store.posts, [record]);
    await store.close();
    for (const [name, call] of everyCall(store, author.id, record.id)) {
      const { outcome } = await raises(call(), 'store-unavailable');
      assert.equal(outcome, 'none', `outcome of ${name}`);
    }
  });

  test('changes that are under way come to their end before a store is closed', async (store) => {
    const [id = ''] = await put(store.users, [user()]);
    let ended = 0;
    const loaded = times(300, () => new VersionedRecord(user(), 1));
    const changes = times(20, async (n) => {
      if (n === 19) await store.transfer?.users.load(loaded);
      else if (n % 3 === 0) await store.users.create(user());
      else if (n % 3 === 1) await store.posts.create(post({ authorId: id }), receipt());
      else await store.users.update(id, ({ record }) => ({ ...record, n }));
      ended++;
    });
    const closed = store.close().then(() => ended);
    const { returned } = await race(changes);
    counts('changes that were made', returned.length, 20);
    counts('changes that had ended when close did', await closed, 20);
  });
}

type Call = readonly [name: string, make: () => Promise<unknown>];

function everyCall(store: Store, userId: string, postId: string): Call[] {
  const { users, posts, transfer } = store;
  const unwanted = (): never => assert.fail('a function of the caller was called after close');
  return [
    ['ready', () => store.ready()],
    ['users.get', () => users.get(userId)],
    ['users.list', () => pageOf(users)],
    ['users.create', () => users.create(user())],
    ['users.create with a receipt', () => users.create(user(), receipt())],
    ['users.update', () => users.update(userId, unwanted)],
    ['users.delete', () => users.delete(userId, 'delete', later, unwanted)],
    ['posts.get', () => posts.get(postId)],
    ['posts.list', () => pageOf(posts)],
    ['posts.create', () => posts.create(post())],
    ['posts.create with a receipt', () => posts.create(post(), receipt())],
    ['posts.update', () => posts.update(postId, unwanted)],
    ['posts.delete', () => posts.delete(postId, unwanted)],
    ...(transfer ? everyTransfer(transfer) : []),
  ];
}

function everyTransfer({ users, posts }: Transfer): Call[] {
  const request = { limit: 10, bytes: pageLimits.bytes };
  return [
    ['transfer.users.scan', () => users.scan(request)],
    ['transfer.users.load', () => users.load([new VersionedRecord(user(), 1)])],
    ['transfer.posts.scan', () => posts.scan(request)],
    ['transfer.posts.load', () => posts.load([new VersionedRecord(post(), 1)])],
  ];
}
