import assert from 'node:assert/strict';
import { earliestInstant, latestInstant } from '../domain/instant.ts';
import { jsonEqual } from '../domain/json.ts';
import type { Post } from '../domain/post.ts';
import type { Entity } from '../domain/record.ts';
import { describeAliases } from './aliases.ts';
import { claim, post, times, user } from './fixtures.ts';
import { type Kind, posts, users } from './kinds.ts';
import type { Suite } from './suite.ts';

const byCreation = { by: 'createdAt', direction: 'asc' } as const;
const own = { list: [{ deep: [1] }], object: { inner: { n: 1 } } };

/** A record comes back as it went in, and nobody outside holds a part of what is stored. */
export function describeValues(suite: Suite): void {
  suite.group('values', () => {
    valuesOf(users, suite);
    valuesOf(posts, suite);
    describeAliases(suite);

    suite.test('a user without an email address has null for it', async (store) => {
      const nobody = user({ email: null });
      await store.users.create(nobody);
      assert.deepEqual((await store.users.get(nobody.id))?.record, nobody);
    });

    suite.test('an email address is returned as it was written', async (store) => {
      const written = user({ email: 'ÉLODIE.E\u0301@Example.COM' });
      await store.users.create(written);
      assert.equal((await store.users.get(written.id))?.record.email, written.email);
    });

    suite.test('fields come back that are as long as they may be', async (store) => {
      const email = `${'é'.repeat(121)}@example.com`;
      const record = user({ name: '😀'.repeat(200), email });
      await store.users.create(record);
      assert.deepEqual((await store.users.get(record.id))?.record, record);
      const long = post({ title: '😀'.repeat(300) });
      await store.posts.create(long);
      assert.deepEqual((await store.posts.get(long.id))?.record, long);
    });

    suite.test(
      'a record comes back that is as large as it may be, with its claim',
      async (store) => {
        const [key, record] = [claim(), post({ own: Array(520_000).fill(0) })];
        await store.posts.create(record, key);
        const changed = { ...record, own: Array(520_000).fill(1) };
        await store.posts.update(record.id, () => changed);
        // Not by deepEqual: the difference of two such lists would take minutes to print.
        const same = (stored?: { record: Post }, expected?: Post) =>
          jsonEqual(stored?.record ?? null, expected ?? null);
        assert.ok(same(await store.posts.get(record.id), changed), 'the record as changed');
        assert.ok(same(await store.posts.replay(key), record), 'the record as first made');
      },
    );

    suite.test('a body may be empty and may have 100,000 characters', async (store) => {
      for (const body of ['', '😀'.repeat(100_000)]) {
        const record = post({ body });
        await store.posts.create(record);
        assert.deepEqual((await store.posts.get(record.id))?.record, record);
      }
    });
  });
}

function valuesOf<R extends Entity>(kind: Kind<R>, { test }: Suite): void {
  const { name, of, make } = kind;

  test(`${name}: get returns undefined for an id that names nothing, whatever it looks like`, async (store) => {
    const strange = ['', ' ', 'none', '\0', '\ud800', '😀', '__proto__', 'constructor', '$ne', '%'];
    for (const id of [...strange, "' OR 1=1 --", '{"$gt":""}', 'x'.repeat(10_000)]) {
      assert.equal(await of(store).get(id), undefined, `id ${JSON.stringify(id.slice(0, 20))}`);
    }
  });

  test(`${name}: an id is exact: case, spaces and normal form count`, async (store) => {
    const ids = ['a', 'A', 'a ', 'é', 'e\u0301', '1', '01', 'constructor', '$a.b'];
    await Promise.all(ids.map((id) => of(store).create(make({ id }))));
    for (const id of ids) assert.equal((await of(store).get(id))?.record.id, id);
  });

  test(`${name}: a record comes back equal, by get, list, create, update and replay`, async (store) => {
    const record = make({ own });
    const key = claim();
    const expected = { record, version: 1 };
    assert.deepEqual((await of(store).create(record, key)).stored, expected);
    assert.deepEqual(await of(store).get(record.id), expected);
    assert.deepEqual(await of(store).replay(key), expected);
    const page = await of(store).list({}, { order: byCreation, limit: 10 });
    assert.deepEqual(page.items, [expected]);
    const changed = { record: { ...record, own: [own, own] }, version: 2 };
    assert.deepEqual(await of(store).update(record.id, () => changed.record), changed);
    assert.deepEqual(await of(store).get(record.id), changed);
  });

  test(`${name}: every moment that an instant can say comes back`, async (store) => {
    const moments = [earliestInstant, '1969-12-31T23:59:59.999Z', latestInstant];
    const records = moments.map((moment) => make({ createdAt: moment, updatedAt: moment }));
    await Promise.all(records.map((record) => of(store).create(record)));
    const { items } = await of(store).list({}, { order: byCreation, limit: 10 });
    assert.deepEqual(
      items.map(({ record }) => record),
      records,
    );
  });

  test(`${name}: who reads after an acknowledged change sees it`, async (store) => {
    await Promise.all(
      times(10, async (n) => {
        const record = make({ n });
        await of(store).create(record);
        assert.deepEqual((await of(store).get(record.id))?.record, record);
        await of(store).update(record.id, ({ record: old }) => ({ ...old, n: -n - 1 }));
        const { items } = await of(store).list(
          { ids: [record.id] },
          { order: byCreation, limit: 1 },
        );
        assert.equal(items[0]?.record.n, -n - 1);
        await kind.remove(store, record.id);
        assert.equal(await of(store).get(record.id), undefined);
      }),
    );
  });
}
