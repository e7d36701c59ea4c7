import type { JsonObject } from '../domain/json.ts';
import type { Entity } from '../domain/record.ts';
import { same } from './assertions.ts';
import { nested, times } from './fixtures.ts';
import type { Resource, Suite } from './suite.ts';

const keys = [
  ...['_id', 'version', 'key', 'receipt', 'record', 'data', 'Id', 'ID', 'user_id', 'rowid', 'json'],
  ...['$set', '$', '.', 'a.b', '$a.$b', '..', '0', '-1', ' ', '"', "'", '`', '\\', '/', '~', '%'],
  ...['constructor', 'toString', 'hasOwnProperty', 'length', 'prototype', 'toJSON', 'then'],
  ...['é', 'e\u0301', '😀', '～', '\uffff', '\u0001', '\n', '\u2028', 'x'.repeat(64)],
];

const values = [null, true, false, 0, 1.5, '', '1', 'x'.repeat(5_000), [], ['a'], {}, { a: 1 }];

const shapes: Record<string, readonly JsonObject[]> = {
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

/** A deployment's own data is stored exactly as it was sent. */
export function describeCustomFields({ both }: Suite): void {
  for (const [name, variants] of Object.entries(shapes)) {
    both(`${name} come back as they were`, async (resource) => {
      for (const fields of variants) await comesBack(resource, fields);
    });
  }

  both('custom fields that a change leaves out are gone', async ({ records, make }) => {
    const bare = make();
    await records.create({ ...bare, a: 1, b: { c: 2 } });
    const changed = { ...bare, b: {} };
    await records.update(bare.id, () => changed);
    same(await records.get(bare.id), changed, 2);
  });
}

/** Made with the fields, and changed to have them. */
async function comesBack<R extends Entity>(
  { records, make }: Resource<R>,
  fields: JsonObject,
): Promise<void> {
  const bare = make();
  const own = Object.fromEntries(
    Object.entries(fields).filter(([key]) => !Object.hasOwn(bare, key)),
  );
  const created = make(own);
  await records.create(created);
  same(await records.get(created.id), created);

  await records.create(bare);
  const changed = { ...bare, ...own };
  await records.update(bare.id, () => changed);
  same(await records.get(bare.id), changed, 2);
}
