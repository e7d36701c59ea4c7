import assert from 'node:assert/strict';
import { same, throwsItsError } from './assertions.ts';
import { at } from './fixtures.ts';
import { put } from './lists.ts';
import type { Suite } from './suite.ts';

/** Changes by a decision. */
export function describeUpdates({ both }: Suite): void {
  both('what a decision made is stored, one version on', async ({ records, make }) => {
    const bare = make();
    await put(records, [{ ...bare, gone: 1, n: 1 }]);
    const next = { ...bare, n: 2, createdAt: at(5), updatedAt: at(99_999) };
    same(await records.update(bare.id, () => next), next, 2);
    same(await records.get(bare.id), next, 2);
    const last = { ...next, n: 3 };
    same(await records.update(bare.id, () => last), last, 3);
  });

  both('a decision is shown what is stored, at its version', async ({ records, make }) => {
    const first = make();
    await put(records, [first]);
    await records.update(first.id, (current) => {
      same(current, first);
      return { ...current.record, n: 1 };
    });
    await records.update(first.id, (current) => {
      same(current, { ...first, n: 1 }, 2);
      return current.record;
    });
  });

  both('a decision that returns the very object changes nothing', async ({ records, make }) => {
    const first = make();
    await put(records, [first]);
    same(await records.update(first.id, ({ record }) => record), first);
    same(await records.get(first.id), first);
  });

  both('a decision that returns an equal object is a change', async ({ records, make }) => {
    const first = make();
    await put(records, [first]);
    same(await records.update(first.id, ({ record }) => ({ ...record })), first, 2);
    same(await records.get(first.id), first, 2);
  });

  both('what a decision throws ends the call', async ({ records, make }) => {
    const first = make();
    await put(records, [first]);
    await throwsItsError((fail) => records.update(first.id, fail));
    same(await records.get(first.id), first);
  });

  both('an id that names nothing calls no decision', async ({ records, make, remove }) => {
    const gone = make();
    // As such a character, half of a surrogate pair often comes out of a driver.
    await put(records, [gone, make({ id: '\ufffd' })]);
    await remove(gone.id);
    for (const id of ['none', '', '\0', '\ud800', '__proto__', gone.id]) {
      const call = records.update(id, () => assert.fail('the decision was called'));
      assert.equal(await call, undefined);
      assert.equal(await records.get(id), undefined);
    }
  });

  both('a change touches no other record', async ({ records, make }) => {
    const [one, two] = [make({ n: 1 }), make({ n: 1 })];
    await put(records, [one, two]);
    await records.update(one.id, ({ record }) => ({ ...record, n: 2 }));
    same(await records.get(two.id), two);
  });
}
