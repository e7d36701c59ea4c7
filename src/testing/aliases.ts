import assert from 'node:assert/strict';
import type { Entity } from '../domain/record.ts';
import { claim } from './fixtures.ts';
import { type Kind, posts, users } from './kinds.ts';
import { vandalize } from './mutation.ts';
import type { Suite } from './suite.ts';

const byCreation = { by: 'createdAt', direction: 'asc' } as const;
const own = { list: [{ deep: [1] }], object: { inner: { n: 1 } } };

/** What is returned and what is taken are values: changing them changes nothing that is stored. */
export function describeAliases(suite: Suite): void {
  aliasesOf(users, suite);
  aliasesOf(posts, suite);
}

function aliasesOf<R extends Entity>(kind: Kind<R>, { test }: Suite): void {
  const { name, of, make } = kind;

  test(`${name}: changing what was handed in changes nothing that is stored`, async (store) => {
    const key = claim();
    const record = make({ own });
    const handed = structuredClone(record);
    const given = { ...key };
    await of(store).create(handed, given);
    vandalize(handed);
    vandalize(given);
    assert.deepEqual((await of(store).get(record.id))?.record, record);

    const change = structuredClone({ ...record, own: [own] });
    await of(store).update(record.id, () => change);
    vandalize(change);
    assert.deepEqual((await of(store).get(record.id))?.record, { ...record, own: [own] });
    assert.deepEqual((await of(store).replay(key))?.record, record);
  });

  test(`${name}: changing what was returned changes nothing that is stored`, async (store) => {
    const key = claim();
    const record = make({ own });
    const first = { record, version: 1 };
    vandalize((await of(store).create(record, key)).stored);
    assert.deepEqual(await of(store).get(record.id), first, 'after create');
    vandalize(await of(store).get(record.id));
    assert.deepEqual(await of(store).get(record.id), first, 'after get');
    vandalize((await of(store).create(record, key)).stored);
    vandalize(await of(store).replay(key));
    assert.deepEqual(await of(store).replay(key), first, 'after replay');
    vandalize((await of(store).list({}, { order: byCreation, limit: 10 })).items);
    assert.deepEqual(await of(store).get(record.id), first, 'after list');

    vandalize(await of(store).update(record.id, ({ record: same }) => same));
    assert.deepEqual(await of(store).get(record.id), first, 'after an update without a change');
    vandalize(await of(store).update(record.id, (current) => ({ ...current.record, n: 1 })));
    const second = { record: { ...record, n: 1 }, version: 2 };
    assert.deepEqual(await of(store).get(record.id), second, 'after an update');
  });

  test(`${name}: changing what a decision or a guard is shown changes nothing`, async (store) => {
    const record = make({ own });
    await of(store).create(record);
    const refusal = new Error('refused');
    const refuse = (shown: unknown): never => {
      vandalize(shown);
      throw refusal;
    };
    await assert.rejects(of(store).update(record.id, refuse), refusal);
    await assert.rejects(kind.remove(store, record.id, refuse), refusal);
    assert.deepEqual(await of(store).get(record.id), { record, version: 1 });
  });
}
