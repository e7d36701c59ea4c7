import assert from 'node:assert/strict';
import { postSorts, userSorts } from '../domain/page.ts';
import type { Entity } from '../domain/record.ts';
import { at, post, times, user } from './fixtures.ts';
import type { Suite } from './suite.ts';
import { type Lister, walk } from './walk.ts';

/** Nine records with ties of every sort, cut into pages of every size. */
export function describePageSizes({ test }: Suite): void {
  const text = (n: number) => ['～', '😀', 'a'][n % 3] ?? '';
  const tied = (n: number) => ({ createdAt: at(n % 3), updatedAt: at(n % 2) });

  for (const by of userSorts) {
    test(`users by ${by}: pages of any size make up the whole list`, async ({ users }) => {
      const email = (n: number) => (n % 2 === 0 ? null : `${n}@example.com`);
      const records = times(9, (n) => user({ ...tied(n), name: text(n), email: email(n) }));
      await Promise.all(records.map((record) => users.create(record)));
      await everySize(users, by);
    });
  }

  for (const by of postSorts) {
    test(`posts by ${by}: pages of any size make up the whole list`, async ({ posts }) => {
      const records = times(9, (n) => post({ ...tied(n), title: text(n) }));
      await Promise.all(records.map((record) => posts.create(record)));
      await everySize(posts, by);
    });
  }
}

async function everySize<R extends Entity, Filter extends object, Sort extends string>(
  lister: Lister<R, Filter, { by: Sort; direction: 'asc' | 'desc' }>,
  by: Sort,
): Promise<void> {
  for (const direction of ['asc', 'desc'] as const) {
    const [filter, order] = [{} as Filter, { by, direction }];
    const whole = await walk(lister, { filter, order });
    assert.equal(whole.length, 9);
    for (const limit of [1, 2, 4, 8, 9, 10]) {
      const walked = await walk(lister, { filter, order, limit });
      assert.deepEqual(walked, whole, `${direction}, limit ${limit}`);
    }
  }
}
