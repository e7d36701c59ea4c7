import { VersionedRecord } from '../domain/records/record.ts';
import type { EventPage } from '../ports/event-log.ts';
import type { Store, StoreOptions } from '../ports/store.ts';
import { assert, createNew, expectAbsent, expectEqual, expectError, race } from './assertions.ts';
import { digest, newReceipt, post, times, user } from './fixtures.ts';
import { declaredEq, expectMatches, has, insert, list } from './lists/lists.ts';
import { declaredFields, type Opened, repositoryOf, type Suite, uniqueField } from './suite.ts';

/** Opening and closing a store, and whether it is ready. */
export function describeLifecycle({ test }: Suite): void {
  test('a new store is ready and empty, with its declaredFields', async (store, { opened }) => {
    await store.ready();
    await store.ready();
    expectEqual('declaredFields', opened.declaredFields, declaredFields);
    expectEqual('the users of a fresh store', (await list(store.users)).items, []);
    expectEqual('the posts of a fresh store', (await list(store.posts)).items, []);
    expectEqual('isFilling', (await store.transfer?.isFilling()) ?? false, false);
  });

  for (const which of ['one', 'another']) {
    test(`each store opens empty: ${which}`, async (store) => {
      await expectAbsent(store.users, 'left');
      await insert(store.users, [user({ id: 'left', email: 'left@example.com' })]);
      await createNew(store.posts, post({ id: 'left' }), newReceipt({ key: digest(1) }));
      await store.posts.delete('left');
    });
  }

  test('Symbol.asyncDispose closes, and closing again does nothing', async (store) => {
    await store[Symbol.asyncDispose]();
    await expectError(store.ready(), 'store-unavailable');
    await expectError(store.users.get('any'), 'store-unavailable');
    await Promise.all([store.close(), store.close()]);
    await store[Symbol.asyncDispose]();
  });

  // Random walks make all the other calls on a closed store.
  test('after close, the store is unavailable', async (store) => {
    const { transfer, events } = store;
    const { value } = (await Promise.allSettled([events?.read(1)]))[0] as { value?: EventPage };
    await store.close();
    const calls = [
      () => store.ready(),
      ...(transfer ? [() => transfer.begin(), () => transfer.end()] : []),
      ...(transfer ? [() => transfer.isFilling(), () => transfer.users.deleted.load([])] : []),
      ...(events && value ? [() => events.read(1), () => events.read(1, value.next)] : []),
      ...(events && value ? [() => events.read(1, 'expired')] : []),
      () => store.undeclare('users', 'unknown'),
    ];
    for (const call of calls) {
      const { outcome } = await expectError(call(), 'store-unavailable');
      expectEqual('the outcome', outcome, 'none');
    }
  });

  test('close waits for pending changes', async (store) => {
    const [id = ''] = await insert(store.users, [user()]);
    let ended = 0;
    const loaded = times(300, () => new VersionedRecord(user({ email: null }), 1));
    const changes = times(20, async (n) => {
      if (n === 19) await store.transfer?.users.load(loaded);
      else if (n % 3 === 0) await store.users.create(user());
      else if (n % 3 === 1) await store.posts.create(post({ authorId: id }), newReceipt());
      else await store.users.update(id, ({ record }) => ({ ...record, n }));
      ended++;
    });
    const ready = store.ready();
    const closed = store.close().then(() => ended);
    const { returned } = await race(changes);
    await ready;
    expectEqual('the number of changes that were made', returned.length, 20);
    expectEqual('the number of changes that ended before close', await closed, 20);
  });
}

/** Fields to declare in addition to `declaredFields`: one is declared already. */
const addedFields = {
  users: { age: 'number', team: 'text', crew: 'text[]', pass: { type: 'text', unique: true } },
  posts: { pages: 'number', team: 'text', crew: 'text[]', pass: { type: 'text', unique: true } },
} as const;

const allFields = {
  users: { ...declaredFields.users, ...addedFields.users },
  posts: { ...declaredFields.posts, ...addedFields.posts },
};

/** Stores that are closed and opened again. */
export function describeReopen(
  { contract: { another, withoutTransfer }, testEach }: Suite,
  reopen: NonNullable<Suite['contract']['reopen']>,
): void {
  /** Closes a store, opens its data to declare these fields, and closes it again. */
  const withReopened = async (
    { opened, watch }: Opened,
    added: StoreOptions['declaredFields'],
    expected: StoreOptions['declaredFields'],
    use: (store: Store) => Promise<void>,
  ): Promise<void> => {
    await opened.close();
    const options = { declaredFields: added };
    const store = await watch.call('reopen', async () => reopen(opened, options));
    try {
      await store.ready();
      expectEqual('declaredFields', store.declaredFields, expected);
      await use(watch.over(store));
    } finally {
      await store.close();
    }
  };

  testEach('finds every record by a field that is declared later', async (resource, _, context) => {
    const { name, records, make } = resource;
    const [text, number] = name === 'users' ? ['city', 'age'] : ['language', 'pages'];
    const always = { team: 'red', crew: ['a'] };
    const fields = (place: string, n: number) => ({ ...always, [text]: place, [number]: n });
    const created = [make(fields('en', 1)), make(fields('de', 2)), make(fields('en', 2))];
    const [a = '', b = '', c = ''] = await insert(records, created);
    const added = make(fields('en', 2));
    await withReopened(context, addedFields, allFields, async (store) => {
      const other = repositoryOf(store, name);
      await expectMatches(other, [declaredEq('team', 'red'), has('crew', 'a')], [a, b, c]);
      await expectMatches(other, [declaredEq(number, 2)], [b, c]);
      await insert(other, [added]);
      await other.update(a, ({ record }) => ({ ...record, [text]: 'fr', team: 'blue' }));
      await expectMatches(other, [declaredEq('team', 'blue')], [a]);
      await expectMatches(other, [declaredEq(text, 'fr')], [a]);
    });
  });

  testEach('does not open if records break a new declaration', async (resource, _, context) => {
    const { name, records, make } = resource;
    const { field: unique } = uniqueField(resource);
    const created = [make({ twin: 1, labels: ['a', 1] }), make({ twin: 1, labels: ['a'] })];
    const ids = await insert(records, created);
    await context.opened.close();
    for (const [field, declared, named] of [
      ['twin', { type: 'number', unique: true }, ids],
      ['labels', 'text[]', ids.slice(0, 1)],
      [unique, 'boolean', ['rostrum field']],
    ] as const) {
      const message = await messagesOf(async () => {
        const options = { declaredFields: { [name]: { [field]: declared } } };
        await using store = await reopen(context.opened, options);
        await store.ready();
      });
      for (const word of [field, ...named]) {
        assert(message.includes(word), `"${message}" does not name ${word}`);
      }
    }
    // The declarations that failed are gone.
    await withReopened(context, {}, declaredFields, async (store) => {
      await repositoryOf(store, name).create(make({ twin: 1, labels: 1 }));
    });
  });

  if (another !== undefined) {
    testEach('obeys what another handle declares', async (resource, _, { opened, watch }) => {
      const { records, make } = resource;
      const [id = ''] = await insert(records, [make({ pass: 'a', team: 'red' })]);
      const options = { declaredFields: addedFields };
      await using other = await watch.call('another', async () => another(opened, options));
      await other.ready();
      for (const wrong of [{ team: 5 }, { crew: 'a' }, { pass: [] }]) {
        const calls = [
          () => records.create(make(wrong), newReceipt()),
          () => records.update(id, ({ record }) => ({ ...record, ...wrong })),
          ...(withoutTransfer === undefined
            ? [() => resource.transfer.load([new VersionedRecord(make(wrong), 1)])]
            : []),
        ];
        for (const call of calls) await expectError(call(), 'invalid-record');
      }
      await expectError(records.create(make({ pass: 'a' })), 'field-taken');
      await insert(records, [make({ pass: 'b', team: null, crew: [] })]);
    });
  }

  testEach('a declaration holds until it is removed', async (resource, _, context) => {
    const { name, make } = resource;
    const { field, values } = uniqueField(resource);
    const rest = { ...declaredFields, [name]: { ...declaredFields[name], [field]: undefined } };
    await withReopened(context, {}, declaredFields, async (store) => {
      const records = repositoryOf(store, name);
      await records.create(make({ [field]: values[0] }));
      await expectError(records.create(make({ [field]: values[0] })), 'field-taken');
      await store.undeclare(name, field);
      await store.undeclare(name, field);
    });
    const left = JSON.parse(JSON.stringify(rest));
    await withReopened(context, {}, left, async (store) => {
      await insert(repositoryOf(store, name), [
        make({ [field]: values[0] }),
        make({ [field]: [] }),
      ]);
    });
  });
}

/** Returns the messages of an error and of its causes. */
async function messagesOf(call: () => Promise<void>): Promise<string> {
  const [outcome] = await Promise.allSettled([call()]);
  let message = '';
  let error: unknown = outcome.status === 'rejected' ? outcome.reason : undefined;
  for (; error instanceof Error; error = error.cause) message += `${error.message}\n`;
  return message;
}
