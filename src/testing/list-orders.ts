import { type CustomFilter, type EntityFilter, postSorts, userSorts } from '../domain/list.ts';
import type { Entity } from '../domain/record.ts';
import { textKey } from '../domain/text.ts';
import type { Repository } from '../ports/repository.ts';
import { is } from './assertions.ts';
import { at, byCodePoint, byKey, longTexts, post, shuffled, times, user } from './fixtures.ts';
import { idsOf, put, walk } from './lists.ts';
import type { Suite } from './suite.ts';

/** Addresses in the order of their keys. */
const byEmailKey = [
  ...['!@example.com', '1@example.com', 'a-b@example.com', 'a.b@example.com', 'A@example.com'],
  ...['a@ä.example', 'a@xo.example'], // The A-label of ä is xn--4ca.
  ...['AA@example.com', 'b@example.com', 'C@example.com', 'e\u0300@example.com', 'É@example.com'],
  ...['я@example.com', 'Ｚ@example.com', '𐀀@example.com'],
];

/** Behind the longest keys, some of them differ in what is beyond 4,000 bytes of both. */
const tiedIds = ['A', ...longTexts(1001), '😀'];

/** The values of each sort in its order, and the ids of the records that tie. */
const sorted = {
  createdAt: { values: [at(0), at(1), at(2)], ids: byCodePoint },
  updatedAt: { values: [at(0), at(1), at(2)], ids: byCodePoint },
  name: { values: byKey(200), ids: tiedIds },
  title: { values: byKey(300), ids: tiedIds },
  publishedAt: { values: [null, null, at(0), at(1)], ids: byCodePoint },
  email: { values: [...times(24, () => null), ...byEmailKey], ids: ['A'] },
};

/** Every sort, in both directions, on pages of every size, of all records and of some. */
export function describeOrders({ test }: Suite): void {
  for (const by of userSorts) {
    test(`users by ${by}: keys by code point, ties by id`, async ({ users }) => {
      await walksInOrder(users, by, user, { city: 'here' });
    });
  }

  for (const by of postSorts) {
    test(`posts by ${by}: keys by code point, ties by id`, async ({ posts }) => {
      await walksInOrder(posts, by, post, { language: 'here' });
    });
  }
}

async function walksInOrder<R extends Entity, Sort extends keyof typeof sorted>(
  records: Repository<R, EntityFilter, Sort | 'createdAt'>,
  by: Sort,
  make: (fields: object) => R,
  custom: CustomFilter,
): Promise<void> {
  const { values, ids } = sorted[by];
  // The later a value is, the earlier are its ids. All that are null tie.
  const all = values.flatMap((value, n) =>
    ids.map((id, m) => {
      const rank = value === null ? 10 + n : 99 - n;
      const field = (n + m) % 2 > 0 ? value : inCapitals(value);
      return { id: `${rank} ${id}`, [by]: field, ...((n + m) % 3 > 0 && custom) };
    }),
  );
  const some = all.filter((fields) => Object.keys(custom).every((name) => name in fields));
  await put(records, shuffled(all).map(make));
  for (const [filter, matching] of [
    [{}, all],
    [{ custom }, some],
  ] as const) {
    for (const direction of ['asc', 'desc'] as const) {
      const expected = direction === 'asc' ? idsOf(matching) : idsOf(matching).toReversed();
      for (const limit of [1, 4, matching.length, 1000]) {
        const walked = await walk(records, { filter, order: { by, direction }, limit });
        is(`walk in the order ${by} ${direction}, limit ${limit}`, idsOf(walked), expected);
      }
    }
  }
}

/** Another text with the same key, where capitals make one. */
function inCapitals(value: string | null): string | null {
  const capitals = value?.toUpperCase();
  return value !== null && capitals && textKey(capitals) === textKey(value) ? capitals : value;
}
