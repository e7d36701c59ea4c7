import type { JsonObject } from '../domain/records/json.ts';
import type { Entity } from '../domain/records/record.ts';
import {
  expectAbsent,
  expectEqual,
  expectRecord,
  expectReplay,
  quote,
  uncalled,
} from './assertions.ts';
import {
  declaredValues,
  expandingCharacter,
  knownIds,
  newReceipt,
  post,
  similarIds,
  times,
  unknownIds,
  user,
} from './fixtures.ts';
import { eq, expectMatches, idsOf, insert, oneOf, readAll } from './lists/lists.ts';
import type { Resource, Suite } from './suite.ts';

const keys = [
  ...['_id', 'version', 'key', 'receipt', 'record', 'data', 'Id', 'ID', 'user_id', 'rowid', 'json'],
  ...['$set', '$', '.', 'a.b', '$a.$b', '..', '0', '-1', ' ', '"', "'", '`', '\\', '/', '~', '%'],
  ...['constructor', 'toString', 'hasOwnProperty', 'length', 'prototype', 'toJSON', 'then'],
  ...['é', 'e\u0301', '😀', '～', '\uffff', '\u0001', '\n', '\u2028', 'x'.repeat(64)],
];

const customFields: Record<string, readonly JsonObject[]> = {
  'fields of any name, also inside other fields,': [
    Object.fromEntries(keys.map((key, n) => [key, String(n)])),
    { below: Object.fromEntries(keys.map((key, n) => [key, { [key]: n }])) },
    { list: keys.map((key) => ({ [key]: null })) },
    { arrays: Object.fromEntries(keys.map((key, n) => [key, [{ n }, [{}]]])) },
  ],
  'fields named like those of the other collection': times(2, () => ({
    ...{ title: 'x', body: 1, authorId: 'nobody', nameKey: 'x', titleKey: 'x', emailKey: [] },
    ...{ name: null, email: 'same@example.com' },
  })),
  'declared fields': times(9, (n) => {
    const text = declaredValues.text[n * 5] ?? null;
    const number = declaredValues.number[n * 3] ?? null;
    const list = declaredValues['text[]'][n * 2] ?? null;
    return { city: text, age: number, groups: list, language: text, pages: number, tags: list };
  }),
  'integers up to ±(2^53 − 1)': [
    { n: [0, 1, -1, 255, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 52 + 1] },
    { n: [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1] },
  ],
  'fractions, to the last bit,': [
    { n: [0.1, -0.1, 0.1 + 0.2, 1.5, 1e-7, 123456789.12345679, 2 ** 31 + 0.5, 2 ** 52 - 0.5] },
    { n: [5e-324, -5e-324, 2.2250738585072014e-308, 1.1e-300, Number.EPSILON, Math.PI] },
  ],
  'texts with any character': [
    { t: ['', ' ', ' a ', '\t\r\n', '"quoted"', "it's", '\\', '\\u0041', '</script>', '$where'] },
    { t: ['\u0001\u0008\u001f\u007f', '\u2028\u2029', '\ufeffbom', '\ufffd', '\uffff', '😀～é'] },
    { t: ['2100-01-01T00:00:00.000Z', '1', 'null', 'true', 'e\u0301', 'é', '\u{10ffff}', '%00'] },
  ],
  'null, empty lists and empty objects': [
    { n: null, o: {}, a: [], t: '', f: false, z: 0 },
    { a: [null, [], {}, [[]], [{}], { n: null }], o: { o: {} } },
  ],
  'objects that look like values of a driver': [
    { $oid: '507f1f77bcf86cd799439011', below: { $oid: '507f1f77bcf86cd799439011' } },
    { when: { $date: 0 }, n: { $numberLong: '1' }, ref: { $ref: 'users', $id: 1 } },
    { _bsontype: 'ObjectId', o: { _bsontype: 'Long', low: 1, high: 0 } },
    { type: 'Buffer', data: [1, 2, 3] },
  ],
  'the deepest nesting that a record can have': [
    JSON.parse(`${'{"in":'.repeat(14)}{"leaf":true}${'}'.repeat(14)}`),
    { a: [[[[[[[[[[[[[[1]]]]]]]]]]]]]] },
  ],
  'long texts, long lists and many fields': [
    { t: 'x'.repeat(256_001), u: '😀'.repeat(25_000), in: { t: 'x'.repeat(256_001) } },
    ...[1025, 8193, 32_769].map((length) => ({ t: 'x'.repeat(length), in: ['é'.repeat(length)] })),
    { list: times(5_000, (n) => n) },
    Object.fromEntries(times(1_000, (n) => [`field ${n}`, n])),
  ],
};

/** A record comes back as it went in. */
export function describeGet({ test, testEach }: Suite): void {
  testEach('no method finds an unknown id', async ({ records, make, remove }) => {
    const known = knownIds.map((id) => make({ id }));
    await insert(records, known);
    for (const id of unknownIds) {
      const subject = `the id ${quote(id)}`;
      await expectAbsent(records, id);
      expectEqual(`lastVersion of ${subject}`, await records.lastVersion(id), undefined);
      await expectMatches(records, [oneOf('id', [id])], []);
      const updated = await records.update(id, uncalled(`a decision was called for ${subject}`));
      expectEqual(`the result of update for ${subject}`, updated, undefined);
      for (const guard of [undefined, uncalled(`a guard was called for ${subject}`)]) {
        expectEqual(`the result of delete for ${subject}`, await remove(id, guard), false);
      }
    }
    expectEqual('the ids of all records', idsOf(await readAll(records)), knownIds);
  });

  testEach('no method confuses ids that look alike', async (resource) => {
    const { records, make, remove } = resource;
    const created = similarIds.map((id) => make({ id }));
    await insert(records, created);
    for (const [n, record] of created.entries()) {
      expectRecord(await records.get(record.id), record);
      await expectMatches(records, [eq('id', record.id)], [record.id]);
      const changed = { ...record, n };
      expectRecord(await records.update(record.id, () => changed), changed, 2);
    }
    for (const [n, id] of similarIds.entries()) {
      expectEqual(`the result of delete for ${quote(id)}`, await remove(id), true);
      expectEqual('the remaining ids', idsOf(await readAll(records)), similarIds.slice(n + 1));
    }
  });

  for (const [name, variants] of Object.entries(customFields)) {
    testEach(`${name} come back unchanged`, async (resource) => {
      for (const fields of variants) await expectRoundTrip(resource, fields);
    });
  }

  test('the longest fields come back unchanged', async ({ users, posts }) => {
    const email = `${'é'.repeat(121)}@example.com`;
    const written = user({ email: 'ÉLODIE.E\u0301@Example.COM' });
    for (const record of [written, user({ name: expandingCharacter.repeat(200), email })]) {
      await users.create(record);
      expectRecord(await users.get(record.id), record);
    }
    for (const body of ['', 'x'.repeat(32_769), '😀'.repeat(260_000)]) {
      const record = post({ title: expandingCharacter.repeat(300), body });
      await posts.create(record);
      expectRecord(await posts.get(record.id), record);
    }
  });

  test('the largest record comes back unchanged, and so does its receipt', async ({ posts }) => {
    const receipt = newReceipt();
    const record = post({ list: Array(520_000).fill(0) });
    await posts.create(record, receipt);
    const changed = { ...record, list: Array(520_000).fill(1) };
    await posts.update(record.id, () => changed);
    expectRecord(await posts.get(record.id), changed, 2);
    await expectReplay(posts, receipt, record, changed);
  });
}

/** Creates a record with these fields, and adds them to another; expects both to come back unchanged. */
async function expectRoundTrip<R extends Entity>(
  { records, make }: Resource<R>,
  fields: JsonObject,
): Promise<void> {
  const bare = make();
  const custom = Object.entries(fields).filter(([key]) => !Object.hasOwn(bare, key));
  const created = make(Object.fromEntries(custom));
  const changed = { ...bare, ...Object.fromEntries(custom) };
  await insert(records, [created, bare]);
  expectRecord(await records.get(created.id), created);
  await records.update(bare.id, () => changed);
  expectRecord(await records.get(bare.id), changed, 2);
}
