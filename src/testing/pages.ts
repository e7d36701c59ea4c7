import assert from 'node:assert/strict';
import type { Entity } from '../domain/record.ts';
import { at, post, times, user } from './fixtures.ts';
import { type Kind, posts, users } from './kinds.ts';
import { describePageSizes } from './page-sizes.ts';
import type { Suite } from './suite.ts';
import { idsOf } from './walk.ts';

const directions = ['asc', 'desc'] as const;
const order = { by: 'createdAt', direction: 'asc' } as const;

/** How a list is cut into pages. */
export function describePages(suite: Suite): void {
  suite.group('pages', () => {
    pagesOf(users, suite);
    pagesOf(posts, suite);

    describePageSizes(suite);

    suite.test('next is the sort key and the id of the page’s last record', async (store) => {
      const emails = [null, 'É@example.com', 'z@example.com'];
      const records = emails.map((email, n) => user({ id: `u${n}`, email }));
      await Promise.all(records.map((record) => store.users.create(record)));
      const byEmail = { by: 'email', direction: 'asc' } as const;
      const first = await store.users.list({}, { order: byEmail, limit: 1 });
      assert.deepEqual(first.next, { key: null, id: 'u0' });
      const second = await store.users.list({}, { order: byEmail, limit: 1, after: first.next });
      assert.deepEqual(second.next, { key: 'z@example.com', id: 'u2' });
      const third = await store.users.list({}, { order: byEmail, limit: 1, after: second.next });
      assert.deepEqual(idsOf(third.items.map(({ record }) => record)), ['u1']);
      assert.equal(third.next, undefined);
    });

    suite.test('a page may have a thousand records', async (store) => {
      const records = times(1001, (n) => post({ createdAt: at(n) }));
      // A hundred or so at a time: a store may be overloaded by more.
      for (let n = 0; n < records.length; n += 143) {
        const batch = records.slice(n, n + 143);
        await Promise.all(batch.map((record) => store.posts.create(record)));
      }
      const first = await store.posts.list({}, { order, limit: 1000, total: true });
      assert.equal(first.items.length, 1000);
      assert.equal(first.total, 1001);
      const rest = await store.posts.list({}, { order, limit: 1000, after: first.next });
      assert.deepEqual(idsOf(rest.items.map(({ record }) => record)), [records[1000]?.id]);
      assert.equal(rest.next, undefined);
    });
  });
}

function pagesOf<R extends Entity>({ name, of, make, remove }: Kind<R>, { test }: Suite): void {
  test(`${name}: an empty list is one page without a next`, async (store) => {
    const page = await of(store).list({}, { order, limit: 10, total: true });
    assert.deepEqual([page.items, page.next, page.total], [[], undefined, 0]);
  });

  test(`${name}: next is absent exactly when no record follows`, async (store) => {
    await Promise.all(times(4, () => of(store).create(make())));
    for (const limit of [1, 3]) {
      const { items, next } = await of(store).list({}, { order, limit });
      assert.equal(items.length, limit);
      assert.notEqual(next, undefined, `limit ${limit} of 4`);
    }
    for (const limit of [4, 5, 1000]) {
      const { items, next } = await of(store).list({}, { order, limit });
      assert.equal(items.length, 4);
      assert.equal(next, undefined, `limit ${limit} of 4`);
    }
  });

  test(`${name}: next does not count records that the filter leaves out`, async (store) => {
    const records = times(4, (n) => make({ createdAt: at(n) }));
    await Promise.all(records.map((record) => of(store).create(record)));
    const ids = idsOf(records).slice(0, 2);
    assert.equal((await of(store).list({ ids }, { order, limit: 2 })).next, undefined);
  });

  test(`${name}: total counts all that the filter matches, on every page`, async (store) => {
    const records = times(5, (n) => make({ createdAt: at(n) }));
    await Promise.all(records.map((record) => of(store).create(record)));
    const filter = { createdAt: { from: at(1) } };
    const totals: (number | undefined)[] = [];
    let page = await of(store).list(filter, { order, limit: 2, total: true });
    totals.push(page.total);
    while (page.next !== undefined) {
      page = await of(store).list(filter, { order, limit: 2, after: page.next, total: true });
      totals.push(page.total);
    }
    assert.deepEqual(totals, [4, 4]);
    const behind = { key: at(99), id: 'x' };
    const beyond = await of(store).list(filter, { order, limit: 2, after: behind, total: true });
    assert.deepEqual([beyond.items, beyond.next, beyond.total], [[], undefined, 4]);
  });

  test(`${name}: there is no total when none was asked for`, async (store) => {
    await of(store).create(make());
    for (const total of [undefined, false]) {
      assert.equal((await of(store).list({}, { order, limit: 1, total })).total, undefined);
    }
  });

  for (const direction of directions) {
    test(`${name}: a page begins behind a place, whether or not a record is there, ${direction}`, async (store) => {
      // Two records to a moment, and the middle pair has ids on either side of "m".
      const records = times(6, (n) =>
        make({ id: `${n % 2 ? 'z' : 'a'}${n}`, createdAt: at(n >> 1) }),
      );
      await Promise.all(records.map((record) => of(store).create(record)));
      const listed = direction === 'asc' ? idsOf(records) : idsOf(records).toReversed();
      const behind = async (key: string, id: string) => {
        const request = {
          order: { by: 'createdAt', direction },
          limit: 10,
          after: { key, id },
        } as const;
        return idsOf((await of(store).list({}, request)).items.map(({ record }) => record));
      };
      assert.deepEqual(await behind(at(1), 'm'), listed.slice(3));
      const [, second = '', third = ''] = listed;
      const key = records.find(({ id }) => id === second)?.createdAt ?? '';
      assert.deepEqual(await behind(key, second), listed.slice(2));
      await remove(store, second);
      assert.deepEqual(await behind(key, second), listed.slice(2));
      await remove(store, third);
      assert.deepEqual(await behind(key, second), listed.slice(3));
    });
  }

  test(`${name}: a list shows each record at its present version`, async (store) => {
    const record = make();
    await of(store).create(record);
    await of(store).update(record.id, (current) => ({ ...current.record, n: 1 }));
    const { items } = await of(store).list({}, { order, limit: 1 });
    assert.deepEqual(items, [{ record: { ...record, n: 1 }, version: 2 }]);
  });
}
