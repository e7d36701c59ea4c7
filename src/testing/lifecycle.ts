import { VersionedRecord } from '../domain/record.ts';
import { absent, fail, is, makes, offers, race, raises } from './assertions.ts';
import { post, receipt, times, user } from './fixtures.ts';
import { pageOf, put } from './lists.ts';
import { customFilters, type Suite } from './suite.ts';

/** The life of a store: ready, under way, closed. */
export function describeLifecycle({ test, both }: Suite): void {
  test('a fresh store is ready and empty, and offers its filters', async (store, { opened }) => {
    await store.ready();
    await store.ready();
    offers(opened, customFilters);
    is('users of a fresh store', (await pageOf(store.users)).items, []);
    is('posts of a fresh store', (await pageOf(store.posts)).items, []);
  });

  for (const which of ['one', 'another']) {
    test(`each store that is opened is fresh: ${which}`, async (store) => {
      await absent(store.users, 'left');
      await put(store.users, [user({ id: 'left', email: 'left@example.com' })]);
      await makes(store.posts, post({ id: 'left' }), receipt({ key: 'left' }));
    });
  }

  test('Symbol.asyncDispose closes, and closing again does nothing', async (store) => {
    await store[Symbol.asyncDispose]();
    await raises(store.ready(), 'store-unavailable');
    await raises(store.users.get('any'), 'store-unavailable');
    await Promise.all([store.close(), store.close()]);
    await store[Symbol.asyncDispose]();
  });

  both('after close, every call ends in store-unavailable', async (resource, store) => {
    const { records, make, remove } = resource;
    const [id = ''] = await put(records, [make()]);
    await store.close();
    const unwanted = (): never => fail('a function of the caller was called after close');
    const calls: Record<string, () => Promise<unknown>> = {
      ready: () => store.ready(),
      get: () => records.get(id),
      list: () => pageOf(records),
      create: () => records.create(make()),
      'create with a receipt': () => records.create(make(), receipt()),
      isIdTaken: () => records.isIdTaken(id),
      update: () => records.update(id, unwanted),
      delete: () => remove(id, unwanted),
      ...(store.transfer && {
        scan: () => resource.transfer.scan({ limit: 10, bytes: 1000 }),
        load: () => resource.transfer.load([new VersionedRecord(make(), 1)]),
      }),
    };
    for (const [name, call] of Object.entries(calls)) {
      const { outcome } = await raises(call(), 'store-unavailable');
      is(`outcome of ${name}`, outcome, 'none');
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
    is('changes that were made', returned.length, 20);
    is('changes that had ended when close did', await closed, 20);
  });
}
