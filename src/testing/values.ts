import assert from 'node:assert/strict';
import { earliestInstant, latestInstant } from '../domain/instant.ts';
import { jsonEqual } from '../domain/json.ts';
import type { Versioned } from '../domain/record.ts';
import { repeats, same, throwsItsError, vandalize } from './assertions.ts';
import { post, receipt, times, user } from './fixtures.ts';
import { pageOf, put, putEach, recordsOf } from './lists.ts';
import type { Suite } from './suite.ts';

const own = { list: [{ deep: [1] }], object: { inner: { n: 1 } } };

/** A record comes back as it went in, and nobody outside holds a part of what is stored. */
export function describeValues({ test, both }: Suite): void {
  both('get is undefined for what names nothing', async ({ records, make }) => {
    const [known] = await put(records, [make({ id: '\ufffd' })]);
    const strange = ['', ' ', 'none', '\0', `${known}\0`, '\ud800', '😀', '__proto__', '$ne'];
    for (const id of [...strange, '%', "' OR 1=1 --", '{"$gt":""}', 'x'.repeat(10_000)]) {
      const got = await records.get(id);
      assert.equal(got, undefined, `id ${JSON.stringify(id.slice(0, 20))}`);
    }
  });

  both('an id is exact: case, spaces and normal form count', async ({ records, make }) => {
    const ids = ['a', 'A', 'a ', 'é', 'e\u0301', '1', '01', 'constructor', '$a.b', '\u0001'];
    await putEach(records, ids, (id) => make({ id }));
    for (const id of ids) assert.equal((await records.get(id))?.record.id, id);
  });

  both('a record comes back equal by every method', async ({ records, make }) => {
    const [record, key] = [make({ own }), receipt()];
    same(await records.create(record, key), record);
    same(await records.get(record.id), record);
    same(await records.create(record, key), record);
    same((await pageOf(records)).items[0], record);
    const changed = { ...record, own: [own, own] };
    same(await records.update(record.id, () => changed), changed, 2);
    same(await records.get(record.id), changed, 2);
    same((await pageOf(records)).items[0], changed, 2);
  });

  both('record is one object, and json is compact', async ({ records, make, remove }) => {
    const [record, key] = [make({ own }), receipt()];
    const given: (Versioned<unknown> | undefined)[] = [
      await records.create(record, key),
      await repeats(records, key, record),
      await records.get(record.id),
      ...(await pageOf(records)).items,
    ];
    await records.update(record.id, (current) => {
      given.push(current);
      return current.record;
    });
    given.push(await records.update(record.id, (current) => ({ ...current.record })));
    await remove(record.id, (current) => {
      given.push(current);
    });
    for (const [n, one] of given.entries()) {
      assert.ok(one !== undefined, `Versioned ${n} is missing`);
      assert.equal(one.record, one.record, `record of Versioned ${n}`);
      assert.equal(one.json, JSON.stringify(JSON.parse(one.json)), `json of Versioned ${n}`);
    }
  });

  both('every moment that an instant can say comes back', async ({ records, make }) => {
    const moments = [earliestInstant, '1969-12-31T23:59:59.999Z', latestInstant];
    const all = moments.map((moment) => make({ createdAt: moment, updatedAt: moment }));
    await put(records, all);
    assert.deepEqual(recordsOf((await pageOf(records)).items), all);
  });

  both('who reads after an acknowledged change sees it', async ({ records, make, remove }) => {
    const readers = times(10, async (n) => {
      const record = make({ n });
      await records.create(record);
      same(await records.get(record.id), record);
      await records.update(record.id, (current) => ({ ...current.record, n: -n - 1 }));
      const { items } = await pageOf(records, { filter: { ids: [record.id] } });
      same(items[0], { ...record, n: -n - 1 }, 2);
      await remove(record.id);
      assert.equal(await records.get(record.id), undefined);
    });
    await Promise.all(readers);
  });

  both('changing what was handed in changes nothing', async ({ records, make }) => {
    const [key, record] = [receipt(), make({ own })];
    const [handed, given] = [structuredClone(record), { ...key }];
    const creation = await records.create(handed, given);
    vandalize(handed);
    vandalize(given);
    same(creation, record, 1, 'what create returned');
    same(await records.get(record.id), record);
    const change = structuredClone({ ...record, own: [own] });
    const updated = await records.update(record.id, () => change);
    vandalize(change);
    same(updated, { ...record, own: [own] }, 2, 'what update returned');
    same(await records.get(record.id), { ...record, own: [own] }, 2);
    await repeats(records, key, record);
  });

  // Only the record is changed: a cache that is checked by version still serves what it holds.
  both('changing a returned record changes nothing else', async ({ records, make }) => {
    const [key, record] = [receipt(), make({ own })];
    const spoil = async (call: string, given: Versioned<typeof record> | undefined) => {
      vandalize(given?.record);
      assert.deepEqual(JSON.parse(given?.json ?? ''), record, `json after ${call}`);
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
    const record = make({ own });
    await records.create(record);
    const spoiling = (fail: () => never) => (current: Versioned<unknown>) => {
      vandalize(current.record);
      return fail();
    };
    await throwsItsError((fail) => records.update(record.id, spoiling(fail)));
    await throwsItsError((fail) => remove(record.id, spoiling(fail)));
    const unchanged = await records.update(record.id, (current) => {
      vandalize(current.record);
      return current.record;
    });
    same(unchanged, record, 1, 'what update returned');
    same(await records.get(record.id), record);
  });

  test('an email address is returned as it was written', async ({ users }) => {
    const written = user({ email: 'ÉLODIE.E\u0301@Example.COM' });
    await users.create(written);
    same(await users.get(written.id), written);
  });

  test('fields come back that are as long as they may be', async ({ users, posts }) => {
    const email = `${'é'.repeat(121)}@example.com`;
    const longest = user({ name: '😀'.repeat(200), email });
    await users.create(longest);
    same(await users.get(longest.id), longest);
    for (const body of ['', '😀'.repeat(100_000)]) {
      const record = post({ title: '😀'.repeat(300), body });
      await posts.create(record);
      same(await posts.get(record.id), record);
    }
  });

  test('a record comes back that is as large as it may be, with its receipt', async ({ posts }) => {
    const [key, record] = [receipt(), post({ own: Array(520_000).fill(0) })];
    await posts.create(record, key);
    const changed = { ...record, own: Array(520_000).fill(1) };
    await posts.update(record.id, () => changed);
    // Not by deepEqual: the difference of two such lists would take minutes to print.
    const now = (await posts.get(record.id))?.record ?? null;
    assert.ok(jsonEqual(now, changed), 'the record as changed');
    const first = (await posts.create(changed, key)).record;
    assert.ok(jsonEqual(first, record), 'the record as first made');
  });
}
