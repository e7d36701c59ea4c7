import assert from 'node:assert/strict';
import { addMs } from '../domain/instant.ts';
import type { Entity } from '../domain/record.ts';
import { throwsThis } from './assertions.ts';
import { at } from './fixtures.ts';
import { type Kind, posts, users } from './kinds.ts';
import type { Suite } from './suite.ts';

/** Changes by a decision. */
export function describeUpdates(suite: Suite): void {
  suite.group('updates', () => {
    updatesOf(users, suite);
    updatesOf(posts, suite);
  });
}

function updatesOf<R extends Entity>({ name, of, make, remove }: Kind<R>, { test }: Suite): void {
  test(`${name}: what is stored is what the decision made, and the version grows by one`, async (store) => {
    const bare = make();
    const first = { ...bare, gone: 1, n: 1 };
    await of(store).create(first);
    const next = { ...bare, n: 2, updatedAt: at(99_999) };
    const stored = { record: next, version: 2 };
    assert.deepEqual(await of(store).update(first.id, () => next), stored);
    assert.deepEqual(await of(store).get(first.id), stored);
    assert.equal((await of(store).update(first.id, () => ({ ...next, n: 3 })))?.version, 3);
  });

  test(`${name}: a decision is shown the record and the version as they are stored`, async (store) => {
    const first = make();
    await of(store).create(first);
    const shown: unknown[] = [];
    for (const n of [1, 2]) {
      await of(store).update(first.id, (current) => {
        shown.push(structuredClone(current));
        return { ...current.record, n };
      });
    }
    assert.deepEqual(shown.at(0), { record: first, version: 1 });
    assert.deepEqual(shown.at(-1), { record: { ...first, n: 1 }, version: 2 });
  });

  test(`${name}: a decision that returns the very object changes nothing`, async (store) => {
    const first = make();
    await of(store).create(first);
    const stored = { record: first, version: 1 };
    assert.deepEqual(await of(store).update(first.id, ({ record }) => record), stored);
    assert.deepEqual(await of(store).get(first.id), stored);
  });

  test(`${name}: a decision that returns an equal but new object is a change`, async (store) => {
    const first = make();
    await of(store).create(first);
    const stored = { record: first, version: 2 };
    assert.deepEqual(await of(store).update(first.id, ({ record }) => ({ ...record })), stored);
    assert.deepEqual(await of(store).get(first.id), stored);
  });

  test(`${name}: what a decision throws ends the call and nothing is written`, async (store) => {
    const first = make();
    await of(store).create(first);
    const refusal = new RangeError('no');
    const refuse = (): never => {
      throw refusal;
    };
    await throwsThis(of(store).update(first.id, refuse), refusal);
    assert.deepEqual(await of(store).get(first.id), { record: first, version: 1 });
  });

  test(`${name}: an id that names nothing is undefined, and the decision is not called`, async (store) => {
    const gone = make();
    await of(store).create(gone);
    await remove(store, gone.id);
    for (const id of ['none', '', '\0', '__proto__', gone.id]) {
      const call = of(store).update(id, () => assert.fail('the decision was called'));
      assert.equal(await call, undefined);
      assert.equal(await of(store).get(id), undefined);
    }
  });

  test(`${name}: a change touches no other record`, async (store) => {
    const [one, two] = [make({ n: 1 }), make({ n: 1 })];
    await of(store).create(one);
    await of(store).create(two);
    await of(store).update(one.id, ({ record }) => ({ ...record, n: 2 }));
    assert.deepEqual(await of(store).get(two.id), { record: two, version: 1 });
  });

  test(`${name}: every field but the id can change, and lists and filters follow`, async (store) => {
    const [first, other] = [make(), make()];
    const next = { ...other, id: first.id, email: null, createdAt: at(5), updatedAt: at(77_777) };
    await of(store).create(first);
    await of(store).update(first.id, () => next);
    const order = { by: 'updatedAt', direction: 'asc' } as const;
    const found = async (updatedAt: string) => {
      const span = { from: updatedAt, before: addMs(updatedAt, 1) };
      return (await of(store).list({ updatedAt: span }, { order, limit: 5 })).items;
    };
    assert.deepEqual(await found(next.updatedAt), [{ record: next, version: 2 }]);
    assert.deepEqual(await found(first.updatedAt), []);
  });
}
