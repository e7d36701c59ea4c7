import { copyJson } from '../domain/json.ts';
import type { Versioned } from '../domain/record.ts';
import { is, repeats, same, throwsItsError, vandalize } from './assertions.ts';
import { receipt } from './fixtures.ts';
import { pageOf, recordsOf } from './lists.ts';
import type { Suite } from './suite.ts';

const custom = { list: [{ deep: [1] }], object: { inner: { n: 1 } } };

/** Values go in and out: no caller holds a part of what is stored. */
export function describeValues({ both }: Suite): void {
  both('changing what was handed in changes nothing', async ({ records, make }) => {
    const [key, record] = [receipt(), make({ custom })];
    const [handed, given] = [copyJson(record), { ...key }];
    const creating = records.create(handed, given);
    vandalize(handed);
    vandalize(given);
    same(await creating, record, 1, 'what create returned');
    same(await records.get(record.id), record);
    const changed = { ...record, custom: [custom] };
    const change = copyJson(changed);
    const updated = await records.update(record.id, () => {
      void Promise.resolve().then(() => vandalize(change));
      return change;
    });
    same(updated, changed, 2, 'what update returned');
    same(await records.get(record.id), changed, 2);
    await repeats(records, key, record);
    const { id, createdAt: from } = record;
    const request = { filter: { ids: [id], createdAt: { from } }, after: { key: '', id: '' } };
    const listing = pageOf(records, request);
    vandalize(request);
    const found = recordsOf((await listing).items);
    is('page whose request was changed after the call', found, [changed]);
  });

  // Only the record is changed: a cache that is checked by version still serves what it holds.
  both('changing a returned record changes nothing else', async ({ records, make }) => {
    const [key, record] = [receipt(), make({ custom })];
    const spoil = async (call: string, given: Versioned<typeof record> | undefined) => {
      vandalize(given?.record);
      is(`json after ${call}`, JSON.parse(given?.json ?? ''), record);
      for (const again of [1, 2]) {
        const got = await records.get(record.id);
        same(got, record, 1, `get ${again} after ${call}`);
        vandalize(got?.record);
      }
      same((await pageOf(records)).items[0], record, 1, `list after ${call}`);
      await repeats(records, key, record, record, `repeat after ${call}`);
      const shown = await records.update(record.id, (current) => {
        same(current, record, 1, `decide after ${call}`);
        return current.record;
      });
      same(shown, record, 1, `update after ${call}`);
    };
    await spoil('create', await records.create(record, key));
    await spoil('a repeat', await repeats(records, key, record));
    await spoil('get', await records.get(record.id));
    await spoil('list', (await pageOf(records)).items[0]);
    await spoil('update', await records.update(record.id, (current) => current.record));
    const changed = { ...record, n: 1 };
    vandalize((await records.update(record.id, () => changed))?.record);
    same(await records.get(record.id), changed, 2, 'after a change');
  });

  both('changing what a function is shown changes nothing', async ({ records, make, remove }) => {
    const record = make({ custom });
    await records.create(record);
    const spoiling = (what: string, fail: () => never) => (current: Versioned<typeof record>) => {
      same(current, record, 1, `what a ${what} was shown`);
      vandalize(current.record);
      return fail();
    };
    for (const _ of [1, 2]) {
      await throwsItsError((fail) => records.update(record.id, spoiling('decision', fail)));
      await throwsItsError((fail) => remove(record.id, spoiling('guard', fail)));
    }
    const unchanged = await records.update(record.id, (current) => {
      vandalize(current.record);
      return current.record;
    });
    same(unchanged, record, 1, 'what update returned');
    same(await records.get(record.id), record);
  });
}
