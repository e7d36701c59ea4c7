import assert from 'node:assert/strict';
import {
  comparePositions,
  type EntityFilter,
  type Order,
  postSortKey,
  postSorts,
  userSortKey,
  userSorts,
} from '../domain/list.ts';
import type { Entity } from '../domain/record.ts';
import { at, byCodePoint, post, shuffled, times, user } from './fixtures.ts';
import { idsOf, type Lister, put, putEach, walk } from './lists.ts';
import type { Suite } from './suite.ts';

const directions = ['asc', 'desc'] as const;

/** Addresses in the order of their keys. */
const byEmailKey = [
  ...['!@example.com', '1@example.com', 'a-b@example.com', 'a.b@example.com', 'A@example.com'],
  ...['AA@example.com', 'b@example.com', 'C@example.com', 'e\u0300@example.com', 'É@example.com'],
  ...['я@example.com', 'Ｚ@example.com', '𐀀@example.com'],
];

/** Every sort, in both directions, on pages of every size. */
export function describeOrders({ test, both }: Suite): void {
  // Ties of every sort: three records to a key, and the ids in another order than the keys.
  const tied = (n: number) => ({
    id: `${['～', 'b', '😀', 'a', 'B', '10', '9'][n % 7]}-${n}`,
    createdAt: at(n % 4),
    updatedAt: at((n * 7) % 5),
  });
  const text = (n: number) => `${['x', 'X', '～', '😀'][n % 4]}`;

  for (const by of userSorts) {
    test(`users by ${by}: both directions, ties by id, pages of any size`, async ({ users }) => {
      const email = (n: number) => `${n % 2 ? 'M' : 'm'}.${(n * 5) % 14}@example.com`;
      const records = times(14, (n) =>
        user({ ...tied(n), name: text(n), email: n % 3 === 0 ? null : email(n) }),
      );
      await put(users, records);
      await everyWalk(users, by, records, userSortKey);
    });
  }

  for (const by of postSorts) {
    test(`posts by ${by}: both directions, ties by id, pages of any size`, async ({ posts }) => {
      const records = times(14, (n) => post({ ...tied(n), title: text(n) }));
      await put(posts, records);
      await everyWalk(posts, by, records, postSortKey);
    });
  }

  for (const direction of directions) {
    const listed = (texts: readonly string[]) => (direction === 'asc' ? texts : texts.toReversed());

    test(`names and titles sort by code point, ${direction}`, async ({ users, posts }) => {
      await putEach(users, shuffled(byCodePoint), (name) => user({ name }));
      await putEach(posts, shuffled(byCodePoint), (title) => post({ title }));
      const named = await walk(users, { order: { by: 'name', direction } });
      const titled = await walk(posts, { order: { by: 'title', direction } });
      assert.deepEqual(
        named.map(({ name }) => name),
        listed(byCodePoint),
      );
      assert.deepEqual(
        titled.map(({ title }) => title),
        listed(byCodePoint),
      );
    });

    test(`emails sort by their keys, missing ones first, ${direction}`, async ({ users }) => {
      const emails = [...shuffled(byEmailKey), null, null];
      await putEach(users, emails, (email) => user({ email }));
      const walked = await walk(users, { order: { by: 'email', direction } });
      const found = walked.map(({ email }) => email);
      const missing = direction === 'asc' ? found.splice(0, 2) : found.splice(-2);
      assert.deepEqual(missing, [null, null]);
      assert.deepEqual(found, listed(byEmailKey));
    });

    both(`ids break ties by code point, ${direction}`, async ({ records, make }) => {
      await putEach(records, shuffled(byCodePoint), (id) => make({ id, createdAt: at(0) }));
      const walked = await walk(records, { order: { by: 'createdAt', direction } });
      assert.deepEqual(idsOf(walked), listed(byCodePoint));
    });
  }
}

async function everyWalk<R extends Entity, Filter extends EntityFilter, Sort extends string>(
  lister: Lister<R, Filter, Sort>,
  by: Sort,
  records: readonly R[],
  sortKey: (record: R, by: Sort) => string | null,
): Promise<void> {
  const position = (record: R) => ({ key: sortKey(record, by), id: record.id });
  const ascending = idsOf(records.toSorted((a, b) => comparePositions(position(a), position(b))));
  for (const direction of directions) {
    const expected = direction === 'asc' ? ascending : ascending.toReversed();
    const order: Order<Sort> = { by, direction };
    for (const limit of [1, 2, 4, 13, 14, 15, 1000]) {
      const walked = await walk(lister, { order, limit });
      assert.deepEqual(idsOf(walked), expected, `${direction}, limit ${limit}`);
    }
  }
}
