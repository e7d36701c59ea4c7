import { copyJson } from '../domain/records/json.ts';
import type { Versioned } from '../domain/records/record.ts';
import {
  assert,
  expectEqual,
  expectRecord,
  expectReplay,
  expectThrown,
  mutate,
} from './assertions.ts';
import { newReceipt } from './fixtures.ts';
import { from, list, oneOf, recordsOf } from './lists/lists.ts';
import type { Suite } from './suite.ts';

const custom = { list: [{ deep: [1] }], object: { inner: { n: 1 } } };

/** Arguments and results are values: modifying them changes nothing that is stored. */
export function describeValues({ testEach }: Suite): void {
  testEach('modifying an argument after the call changes nothing', async ({ records, make }) => {
    const receipt = newReceipt();
    const record = make({ custom });
    const argument = copyJson(record);
    const receiptArgument = { ...receipt };
    const creating = records.create(argument, receiptArgument);
    mutate(argument);
    mutate(receiptArgument);
    expectRecord(await creating, record, 1, 'the result of create');
    expectRecord(await records.get(record.id), record);
    const changed = { ...record, custom: [custom] };
    const decided = copyJson(changed);
    const updated = await records.update(record.id, () => {
      void Promise.resolve().then(() => mutate(decided));
      return decided;
    });
    expectRecord(updated, changed, 2, 'the result of update');
    expectRecord(await records.get(record.id), changed, 2);
    await expectReplay(records, receipt, record);
    const { id, createdAt } = record;
    const conditions = [oneOf('id', [id]), from('createdAt', createdAt)];
    const query = { conditions, after: { key: createdAt, id: '' } };
    const listing = list(records, query);
    mutate(query);
    expectEqual('the page', recordsOf((await listing).items), [changed]);
  });

  // A cache keyed by version must not return the modified record either.
  testEach('modifying a returned record changes nothing else', async ({ records, make }) => {
    const receipt = newReceipt();
    const record = make({ custom });
    const spoil = async (call: string, returned: Versioned<typeof record> | undefined) => {
      mutate(returned?.record);
      expectEqual(`the json after ${call}`, JSON.parse(returned?.json ?? ''), record);
      for (const again of [1, 2]) {
        const got = await records.get(record.id);
        expectRecord(got, record, 1, `the result of get ${again} after ${call}`);
        mutate(got?.record);
      }
      expectRecord((await list(records)).items[0], record, 1, `the record of list after ${call}`);
      await expectReplay(records, receipt, record);
      const unchanged = await records.update(record.id, (current) => {
        expectRecord(current, record, 1, `the argument of a decision after ${call}`);
        return current.record;
      });
      expectRecord(unchanged, record, 1, `the result of update after ${call}`);
    };
    await spoil('create', await records.create(record, receipt));
    await spoil('a repeated create', await expectReplay(records, receipt, record));
    await spoil('get', await records.get(record.id));
    await spoil('list', (await list(records)).items[0]);
    await spoil('update', await records.update(record.id, (current) => current.record));
    const changed = { ...record, n: 1 };
    mutate((await records.update(record.id, () => changed))?.record);
    expectRecord(await records.get(record.id), changed, 2);
  });

  testEach('results of create and update can get more members', async ({ records, make }) => {
    const record = make();
    const created = await records.create(record);
    assert(Object.isExtensible(created), 'the result of create cannot get more members');
    const updated = await records.update(record.id, () => ({ ...record, n: 1 }));
    assert(Object.isExtensible(updated), 'the result of update cannot get more members');
  });

  testEach('modifying the argument of a callback changes nothing', async (resource) => {
    const { records, make, remove } = resource;
    const record = make({ custom });
    await records.create(record);
    const mutating = (what: string, end: () => never) => (current: Versioned<typeof record>) => {
      expectRecord(current, record, 1, `the argument of a ${what}`);
      mutate(current.record);
      return end();
    };
    for (const _ of [1, 2]) {
      await expectThrown((end) => records.update(record.id, mutating('decision', end)));
      await expectThrown((end) => remove(record.id, mutating('guard', end)));
    }
    const unchanged = await records.update(record.id, (current) => {
      mutate(current.record);
      return current.record;
    });
    expectRecord(unchanged, record, 1, 'the result of update');
    expectRecord(await records.get(record.id), record);
  });
}
