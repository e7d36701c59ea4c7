import assert from 'node:assert/strict';
import { checkPrecondition } from '../domain/precondition.ts';
import type { Entity } from '../domain/record.ts';
import { race } from './assertions.ts';
import { describeClaimRaces } from './claim-races.ts';
import { describeEmailRaces } from './email-races.ts';
import { times } from './fixtures.ts';
import { type Kind, posts, users } from './kinds.ts';
import type { Suite } from './suite.ts';

const order = { by: 'createdAt', direction: 'asc' } as const;
const onlyAtOne = { only: [1] };

/** Calls that race: each sees what the one before it left. */
export function describeRaces(suite: Suite): void {
  suite.group('races', () => {
    racesOf(users, suite);
    racesOf(posts, suite);
    describeClaimRaces(suite);
    describeEmailRaces(suite);
  });
}

function racesOf<R extends Entity>({ name, of, make, remove }: Kind<R>, { test }: Suite): void {
  test(`${name}: of 20 creations with one id, one wins`, async (store) => {
    const calls = times(20, () => of(store).create(make({ id: 'one' })));
    const { returned, raised } = await race(calls);
    assert.deepEqual(raised, Array(19).fill('id-taken'));
    assert.deepEqual(await of(store).get('one'), returned[0]?.stored);
  });

  test(`${name}: of 50 changes to one version, one wins`, async (store) => {
    const record = make();
    await of(store).create(record);
    const calls = times(50, (n) =>
      of(store).update(record.id, (current) => {
        checkPrecondition(onlyAtOne, current.version);
        return { ...current.record, n };
      }),
    );
    const { returned, raised } = await race(calls);
    assert.deepEqual(raised, Array(49).fill('version-mismatch'));
    assert.deepEqual(await of(store).get(record.id), returned[0]);
    assert.equal(returned[0]?.version, 2);
  });

  test(`${name}: 50 changes without a condition all land, and the version counts them`, async (store) => {
    const record = make({ n: 0 });
    await of(store).create(record);
    const calls = times(50, () =>
      of(store).update(record.id, (current) => ({
        ...current.record,
        n: Number(current.record.n) + 1,
      })),
    );
    const { returned, raised } = await race(calls);
    assert.deepEqual(raised, []);
    assert.deepEqual(await of(store).get(record.id), { record: { ...record, n: 50 }, version: 51 });
    const told = returned.map((stored) => [stored?.version, stored?.record.n]);
    assert.deepEqual(
      told.toSorted((a, b) => Number(a[0]) - Number(b[0])),
      times(50, (n) => [n + 2, n + 1]),
      'each call returns what it stored itself',
    );
  });

  test(`${name}: of 20 deletions of one record, one finds it`, async (store) => {
    const record = make();
    await of(store).create(record);
    const { returned } = await race(times(20, () => remove(store, record.id)));
    assert.equal(returned.filter((deleted) => deleted).length, 1);
    assert.equal(returned.length, 20);
  });

  test(`${name}: of changes and deletions of one version, one wins`, async (store) => {
    for (let round = 0; round < 4; round++) {
      const record = make();
      await of(store).create(record);
      const { returned, raised } = await race(
        times<Promise<unknown>>(20, (n) =>
          n % 2 === round % 2
            ? remove(store, record.id, ({ version }) => checkPrecondition(onlyAtOne, version))
            : of(store).update(record.id, (current) => {
                checkPrecondition(onlyAtOne, current.version);
                return { ...current.record, n };
              }),
        ),
      );
      const wins = returned.filter((result) => result !== undefined && result !== false);
      assert.equal(wins.length, 1);
      const left = await of(store).get(record.id);
      assert.deepEqual(left, wins[0] === true ? undefined : wins[0]);
      if (left !== undefined) assert.deepEqual(raised, Array(19).fill('version-mismatch'));
    }
  });

  test(`${name}: a reader never sees half of a change`, async (store) => {
    const record = make({ a: 0, b: { c: 0 } });
    await of(store).create(record);
    const writes = times(20, (n) =>
      of(store).update(record.id, (current) => ({ ...current.record, a: n, b: { c: n } })),
    );
    const reads = times(20, async () => {
      const got = await of(store).get(record.id);
      const { items } = await of(store).list({}, { order, limit: 1 });
      for (const seen of [got, items[0]]) {
        assert.deepEqual(seen?.record.b, { c: seen?.record.a });
        if (seen?.version === 1) assert.deepEqual(seen.record, record);
      }
    });
    await Promise.all([...writes, ...reads]);
  });
}
