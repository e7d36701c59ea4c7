import assert from 'node:assert/strict';
import type { Entity, Id, Versioned } from '../domain/record.ts';
import type { Repository } from '../ports/repository.ts';
import { at, times } from './fixtures.ts';
import { type Kind, posts, users } from './kinds.ts';
import type { Suite } from './suite.ts';

/** Ids in the order of their code points. */
const ids = ['!', '10', '9', 'A', 'B', 'a', 'b', 'é', '\ud7ff', '～', '\uffff', '😀', '😀a'];

/** A store from its first id to its last. */
export function describeScans(suite: Suite): void {
  scansOf(users, suite);
  scansOf(posts, suite);
}

function scansOf<R extends Entity>({ name, of, make, remove }: Kind<R>, { test }: Suite): void {
  test(`${name}: scan goes by id in the order of code points, whatever the limit`, async (store) => {
    const mixed = ids.map((_, n) => ids[(n * 5 + 3) % ids.length] ?? '');
    await Promise.all(mixed.map((id, n) => of(store).create(make({ id, createdAt: at(n) }))));
    for (const limit of [1, 2, 12, 13, 14, 1000]) {
      assert.deepEqual(idsOf(await scanAll(of(store), limit)), ids, `limit ${limit}`);
    }
  });

  test(`${name}: scan shows each record and version as they are stored`, async (store) => {
    const record = make({ id: 'a' });
    await of(store).create(record);
    const changed = { record: { ...record, n: 1 }, version: 2 };
    await of(store).update(record.id, () => changed.record);
    assert.deepEqual(await of(store).scan(5), [changed]);
  });

  test(`${name}: scan begins behind an id, whether or not a record has it`, async (store) => {
    assert.deepEqual(await of(store).scan(5), []);
    for (const id of ['b', 'd', 'f']) await of(store).create(make({ id }));
    const behind = async (after: Id) => idsOf(await of(store).scan(5, after));
    assert.deepEqual(await behind('a'), ['b', 'd', 'f']);
    assert.deepEqual(await behind('b'), ['d', 'f']);
    assert.deepEqual(await behind('c'), ['d', 'f']);
    await remove(store, 'd');
    assert.deepEqual(await behind('b'), ['f']);
    assert.deepEqual(await behind('f'), []);
  });

  test(`${name}: a scan meets once what is there throughout`, async (store) => {
    const stay = times(20, (n) => `s${n + 10}`);
    const go = times(20, (n) => `s${n + 10}x`);
    await Promise.all([...stay, ...go].map((id) => of(store).create(make({ id }))));
    const met = await scanAll(of(store), 3, async (last, n) => {
      await Promise.all([
        go.includes(last) ? remove(store, last) : remove(store, go[19 - n] ?? 'none'),
        of(store).create(make({ id: `s${n + 10}-` })),
        of(store).create(make({ id: `s${29 - n}+` })),
        of(store).update(stay[n] ?? '', ({ record }) => ({ ...record, n })),
      ]);
    });
    const expected = new Set(stay);
    assert.deepEqual(
      idsOf(met).filter((id) => expected.has(id)),
      stay,
    );
  });
}

async function scanAll<R extends Entity>(
  repository: Pick<Repository<R, never, never>, 'scan'>,
  limit: number,
  between: (last: Id, answers: number) => Promise<unknown> = async () => {},
): Promise<Versioned<R>[]> {
  const met: Versioned<R>[] = [];
  let answer = await repository.scan(limit);
  for (let n = 0; answer.length > 0; n++) {
    assert.ok(answer.length <= limit, `${answer.length} records, limit ${limit}`);
    assert.ok(n < 1000, 'the scan does not come to an end');
    met.push(...answer);
    const last = met.at(-1)?.record.id ?? '';
    await between(last, n);
    answer = await repository.scan(limit, last);
  }
  return met;
}

function idsOf(records: readonly Versioned<Entity>[]): string[] {
  return records.map(({ record }) => record.id);
}
