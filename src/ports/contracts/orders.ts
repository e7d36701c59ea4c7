import assert from 'node:assert/strict';
import { type Order, postSortKey, postSorts, userSortKey, userSorts } from '../../domain/page.ts';
import type { Entity } from '../../domain/record.ts';
import { compareText } from '../../domain/text.ts';
import { at, post, times, user } from './fixtures.ts';
import type { Suite } from './suite.ts';
import { idsOf, walk } from './walk.ts';

const directions = ['asc', 'desc'] as const;

/** Texts in the order of their code points; UTF-16, a locale or a collation has another. */
const byCodePoint = [
  ...['!', '10', '9', 'A', 'AA', 'Aa', 'B', 'Z', '_', 'a', 'a a', 'aA', 'aa', 'ab', 'b', 'e'],
  ...[
    'e\u0301',
    'f',
    'z',
    '\u00a0x',
    'ß',
    'à',
    'é',
    'Ā',
    'я',
    '漢',
    '\ud7ff',
    '\ue000',
    'ｚ',
    '～',
  ],
  ...['\ufffd', '\uffff', '\uffffa', '𐀀', '😀', '😀a', '\u{10ffff}'],
];

/** Addresses in the order of their keys. */
const byEmailKey = [
  ...['!@example.com', '1@example.com', 'a-b@example.com', 'a.b@example.com', 'A@example.com'],
  ...['AA@example.com', 'b@example.com', 'C@example.com', 'e\u0300@example.com', 'É@example.com'],
  ...['я@example.com', 'Ｚ@example.com', '𐀀@example.com'],
];

/** Every sort, in both directions. */
export function describeOrders({ group, test }: Suite): void {
  group('orders', () => {
    // Ties of every kind: three records to a key, and the ids in another order than the keys.
    const tied = (n: number) => ({
      id: `${['～', 'b', '😀', 'a', 'B', '10', '9'][n % 7]}-${n}`,
      createdAt: at(n % 4),
      updatedAt: at((n * 7) % 5),
    });
    for (const by of userSorts) {
      for (const direction of directions) {
        test(`users by ${by} ${direction}, ties by id in the same direction`, async ({ users }) => {
          const records = times(14, (n) =>
            user({
              ...tied(n),
              name: `${['x', 'X', '～', '😀'][n % 4]}`,
              email: n % 3 === 0 ? null : `${n % 2 ? 'M' : 'm'}.${(n * 5) % 14}@example.com`,
            }),
          );
          await Promise.all(records.map((record) => users.create(record)));
          const walked = await walk(users, { filter: {}, order: { by, direction } });
          assert.deepEqual(idsOf(walked), sorted(records, { by, direction }, userSortKey));
        });
      }
    }

    for (const by of postSorts) {
      for (const direction of directions) {
        test(`posts by ${by} ${direction}, ties by id in the same direction`, async ({ posts }) => {
          const title = (n: number) => `${['x', 'X', '～', '😀'][n % 4]}`;
          const records = times(14, (n) => post({ ...tied(n), title: title(n) }));
          await Promise.all(records.map((record) => posts.create(record)));
          const walked = await walk(posts, { filter: {}, order: { by, direction } });
          assert.deepEqual(idsOf(walked), sorted(records, { by, direction }, postSortKey));
        });
      }
    }

    for (const direction of directions) {
      const expected = (texts: string[]) => (direction === 'asc' ? texts : texts.toReversed());

      test(`names sort by code point, ${direction}`, async ({ users }) => {
        await Promise.all(mixed(byCodePoint).map((name) => users.create(user({ name }))));
        const walked = await walk(users, { filter: {}, order: { by: 'name', direction } });
        assert.deepEqual(
          walked.map(({ name }) => name),
          expected(byCodePoint),
        );
      });

      test(`titles sort by code point, ${direction}`, async ({ posts }) => {
        await Promise.all(mixed(byCodePoint).map((title) => posts.create(post({ title }))));
        const walked = await walk(posts, { filter: {}, order: { by: 'title', direction } });
        assert.deepEqual(
          walked.map(({ title }) => title),
          expected(byCodePoint),
        );
      });

      test(`emails sort by key and code point, a missing one before all, ${direction}`, async ({
        users,
      }) => {
        const emails = [...mixed(byEmailKey), null, null];
        await Promise.all(emails.map((email) => users.create(user({ email }))));
        const walked = await walk(users, { filter: {}, order: { by: 'email', direction } });
        const got = walked.map(({ email }) => email);
        const nulls = direction === 'asc' ? got.splice(0, 2) : got.splice(-2);
        assert.deepEqual(nulls, [null, null]);
        assert.deepEqual(got, expected(byEmailKey));
      });

      test(`ids break ties by code point, ${direction}`, async (store) => {
        const order = { by: 'createdAt', direction } as const;
        await Promise.all(
          mixed(byCodePoint).flatMap((id) => [
            store.users.create(user({ id, createdAt: at(0) })),
            store.posts.create(post({ id, createdAt: at(0) })),
          ]),
        );
        assert.deepEqual(
          idsOf(await walk(store.users, { filter: {}, order })),
          expected(byCodePoint),
        );
        assert.deepEqual(
          idsOf(await walk(store.posts, { filter: {}, order })),
          expected(byCodePoint),
        );
      });
    }
  });
}

/** What the ports’ documentation says of an order, worked out over again. */
function sorted<R extends Entity, Sort extends string>(
  records: readonly R[],
  { by, direction }: Order<Sort>,
  sortKey: (record: R, by: Sort) => string | null,
): string[] {
  const compareKeys = (a: string | null, b: string | null) =>
    a === null || b === null ? Number(b === null) - Number(a === null) : compareText(a, b);
  const ascending = records.toSorted(
    (a, b) => compareKeys(sortKey(a, by), sortKey(b, by)) || compareText(a.id, b.id),
  );
  return idsOf(direction === 'asc' ? ascending : ascending.toReversed());
}

/** Out of order, so that the order of insertion is none of the orders that are asked for. */
function mixed<T>(items: readonly T[]): T[] {
  return items.map((_, n) => items[(n * 5 + 3) % items.length] as T);
}
