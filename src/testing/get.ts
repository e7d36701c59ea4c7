import { earliestInstant, latestInstant } from '../domain/instant.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Entity, Version, Versioned } from '../domain/record.ts';
import { absent, check, fail, is, repeats, same, textOf } from './assertions.ts';
import {
  alikeIds,
  knownIds,
  nested,
  post,
  receipt,
  strangeIds,
  swelling,
  times,
  user,
} from './fixtures.ts';
import { idsOf, matches, pageOf, put, putEach, recordsOf, walk } from './lists.ts';
import type { Resource, Suite } from './suite.ts';

const keys = [
  ...['_id', 'version', 'key', 'receipt', 'record', 'data', 'Id', 'ID', 'user_id', 'rowid', 'json'],
  ...['$set', '$', '.', 'a.b', '$a.$b', '..', '0', '-1', ' ', '"', "'", '`', '\\', '/', '~', '%'],
  ...['constructor', 'toString', 'hasOwnProperty', 'length', 'prototype', 'toJSON', 'then'],
  ...['é', 'e\u0301', '😀', '～', '\uffff', '\u0001', '\n', '\u2028', 'x'.repeat(64)],
];

const values = [null, true, false, 0, 1.5, '', '1', 'x'.repeat(5_000), [], ['a'], {}, { a: 1 }];

const customFields: Record<string, readonly JsonObject[]> = {
  'keys of every name, at the top and below': [
    Object.fromEntries(keys.map((key, n) => [key, n])),
    { below: Object.fromEntries(keys.map((key, n) => [key, { [key]: n }])) },
    { list: keys.map((key) => ({ [key]: null })) },
    { arrays: Object.fromEntries(keys.map((key, n) => [key, [{ n }, [{}]]])) },
  ],
  'keys of the other list’s fields': times(2, () => ({
    ...{ title: 'x', body: 1, authorId: 'nobody' },
    ...{ name: null, email: 'same@example.com' },
  })),
  'fields that were declared for filters, of any type,': values.map((value) => ({
    ...{ city: value, age: value, active: value },
    ...{ language: value, words: value, pinned: value },
  })),
  'integers up to ±(2^53 − 1)': [
    { n: [0, 1, -1, 255, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 52 + 1] },
    { n: [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1] },
  ],
  'numbers with a fraction, to the last bit': [
    { n: [0.1, -0.1, 0.1 + 0.2, 1.5, 1e-7, 123456789.12345679, 2 ** 31 + 0.5, 2 ** 52 - 0.5] },
    { n: [5e-324, -5e-324, 2.2250738585072014e-308, 1.1e-300, Number.EPSILON, Math.PI] },
  ],
  'texts with every character': [
    { t: ['', ' ', ' a ', '\t\r\n', '"quoted"', "it's", '\\', '\\u0041', '</script>', '$where'] },
    { t: ['\u0001\u0008\u001f\u007f', '\u2028\u2029', '\ufeffbom', '\ufffd', '\uffff', '😀～é'] },
    { t: ['2100-01-01T00:00:00.000Z', '1', 'null', 'true', 'e\u0301', 'é', '\u{10ffff}', '%00'] },
  ],
  'empty and absent values': [
    { n: null, o: {}, a: [], t: '', f: false, z: 0 },
    { a: [null, [], {}, [[]], [{}], { n: null }], o: { o: {} } },
  ],
  'objects that look like a driver’s own': [
    { $oid: '507f1f77bcf86cd799439011', below: { $oid: '507f1f77bcf86cd799439011' } },
    { when: { $date: 0 }, n: { $numberLong: '1' }, ref: { $ref: 'users', $id: 1 } },
    { _bsontype: 'ObjectId', o: { _bsontype: 'Long', low: 1, high: 0 } },
    { type: 'Buffer', data: [1, 2, 3] },
  ],
  'nesting as deep as a record may be': [nested(15), { a: [[[[[[[[[[[[[[1]]]]]]]]]]]]]] }],
  'long texts, long lists and many fields': [
    { t: 'x'.repeat(100_000), u: '😀'.repeat(25_000) },
    { list: times(5_000, (n) => n) },
    Object.fromEntries(times(1_000, (n) => [`field ${n}`, n])),
  ],
};

/** A record comes back as it went in. */
export function describeGet({ test, both }: Suite): void {
  both('an id that names nothing, in every method', async ({ records, make, remove }) => {
    const known = await putEach(records, knownIds, (id) => make({ id }));
    for (const id of strangeIds) {
      const asked = `the id ${textOf(id)}`;
      const uncalled = (what: string) => () => fail(`${what}, though no record has ${asked}`);
      await absent(records, id);
      is(`isIdTaken of ${asked}`, await records.isIdTaken(id), false);
      await matches(records, { ids: [id] }, []);
      const updated = await records.update(id, uncalled('a decision was called'));
      is(`update of ${asked}`, updated, undefined);
      for (const guard of [undefined, uncalled('a guard was asked')]) {
        is(`delete of ${asked}`, await remove(id, guard), false);
      }
    }
    await matches(records, {}, known);
  });

  both('ids that only look alike are different, in every method', async (resource) => {
    const { records, make, remove } = resource;
    const made = alikeIds.map((id) => make({ id }));
    await put(records, made);
    for (const [n, record] of made.entries()) {
      same(await records.get(record.id), record);
      await matches(records, { ids: [record.id] }, [record.id]);
      const changed = { ...record, n };
      same(await records.update(record.id, () => changed), changed, 2);
    }
    for (const [n, id] of alikeIds.entries()) {
      is(`delete of ${textOf(id)}`, await remove(id), true);
      is('records that are left', idsOf(await walk(records)), alikeIds.slice(n + 1));
    }
  });

  both('every method gives out the record, whole', async ({ records, make, remove }) => {
    const [key, record] = [receipt(), make({ list: [{ deep: [1] }], object: { inner: { n: 1 } } })];
    const changed = { ...record, list: [record.list, []] };
    const holds = (given: Versioned<typeof record> | undefined, version: Version) => {
      same(given, version === 1 ? record : changed, version);
      const isOne = Object.is(given?.record, given?.record);
      check(isOne, 'record is another object each time');
      const compact = JSON.stringify(JSON.parse(given?.json ?? ''));
      is('json, which has to be compact,', given?.json, compact);
    };
    holds(await records.create(record, key), 1);
    holds(await records.create(record, key), 1);
    holds(await records.get(record.id), 1);
    holds((await pageOf(records)).items[0], 1);
    const updated = await records.update(record.id, (current) => {
      holds(current, 1);
      return changed;
    });
    holds(updated, 2);
    holds(await records.get(record.id), 2);
    holds((await pageOf(records)).items[0], 2);
    await remove(record.id, (current) => holds(current, 2));
  });

  for (const [name, variants] of Object.entries(customFields)) {
    both(`${name} come back as they were`, async (resource) => {
      for (const fields of variants) await comesBack(resource, fields);
    });
  }

  both('every moment that an instant can say comes back', async ({ records, make }) => {
    const moments = [earliestInstant, '1969-12-31T23:59:59.999Z', latestInstant];
    const all = moments.map((moment) => make({ createdAt: moment, updatedAt: moment }));
    await put(records, all);
    is('records of every moment', recordsOf((await pageOf(records)).items), all);
  });

  test('fields come back as they were written, and as long as they may be', async (store) => {
    const { users, posts } = store;
    const written = user({ email: 'ÉLODIE.E\u0301@Example.COM' });
    const email = `${'é'.repeat(121)}@example.com`;
    for (const record of [written, user({ name: swelling.repeat(200), email })]) {
      await users.create(record);
      same(await users.get(record.id), record);
    }
    for (const body of ['', '😀'.repeat(100_000)]) {
      const record = post({ title: swelling.repeat(300), body });
      await posts.create(record);
      same(await posts.get(record.id), record);
    }
  });

  test('a record comes back that is as large as it may be, with its receipt', async ({ posts }) => {
    const [key, record] = [receipt(), post({ list: Array(520_000).fill(0) })];
    await posts.create(record, key);
    const changed = { ...record, list: Array(520_000).fill(1) };
    await posts.update(record.id, () => changed);
    same(await posts.get(record.id), changed, 2);
    await repeats(posts, key, record, changed);
  });
}

/** Makes a record with the fields, and changes another one to have them. */
async function comesBack<R extends Entity>(
  { records, make }: Resource<R>,
  fields: JsonObject,
): Promise<void> {
  const bare = make();
  const custom = Object.entries(fields).filter(([key]) => !Object.hasOwn(bare, key));
  const created = make(Object.fromEntries(custom));
  const changed = { ...bare, ...Object.fromEntries(custom) };
  await put(records, [created, bare]);
  same(await records.get(created.id), created);
  await records.update(bare.id, () => changed);
  same(await records.get(bare.id), changed, 2);
}
