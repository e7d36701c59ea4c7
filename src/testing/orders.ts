import assert from 'node:assert/strict';
import { type Order, postSortKey, postSorts, userSortKey, userSorts } from '../domain/page.ts';
import type { Entity } from '../domain/record.ts';
import { compareText } from '../domain/text.ts';
import { at, post, times, user } from './fixtures.ts';
import type { Suite } from './suite.ts';
import { describeTextOrders } from './text-orders.ts';
import { idsOf, walk } from './walk.ts';

const directions = ['asc', 'desc'] as const;

/** Every sort, in both directions. */
export function describeOrders(suite: Suite): void {
  const { group, test } = suite;
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

    describeTextOrders(suite);
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
