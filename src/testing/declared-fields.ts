import { type DeclaredType, fieldsIn, isSortable } from '../domain/fields/declared-fields.ts';
import type { Condition, QueryField } from '../domain/lists/list.ts';
import type { Collection } from '../domain/records/record.ts';
import { expectEqual, expectError, expectRecord, race } from './assertions.ts';
import { declaredValues, rangeEnds, times, unknownTexts } from './fixtures.ts';
import {
  declaredEq,
  expectMatches,
  expectSelected,
  idsOf,
  insert,
  readAll,
  select,
} from './lists/lists.ts';
import { declaredFields, type Suite, uniqueField } from './suite.ts';

/** Conditions on declared fields, orders by them, and unique values. */
export function describeDeclaredFields(suite: Suite): void {
  for (const type of Object.keys(declaredValues) as DeclaredType[]) describeType(type, suite);
  describeNames(suite);
  describeUnique(suite);
}

/** Values that no record has. */
const unknownValues: Readonly<Record<DeclaredType, readonly unknown[]>> = {
  text: [...unknownTexts, 'e%', '{}'],
  number: [7, 1e301, 1.5e-323],
  boolean: [],
  'text[]': ['c', 'c,', 'B', '","', '[]', '1'],
};

function describeType(type: DeclaredType, { testEach }: Suite): void {
  testEach(`finds and sorts records by a declared ${type}`, async (resource) => {
    const { name, records, make } = resource;
    const by = fieldOf(name, type);
    const stored = [null, ...declaredValues[type], ...declaredValues[type].slice(0, 9), null];
    const created = [make(), ...stored.map((value) => make({ [by.field]: value })), make()];
    await insert(records, created);
    for (const record of created) expectRecord(await records.get(record.id), record);
    const conditions = conditionsOn(by, type);
    for (const [n, condition] of conditions.entries()) {
      await expectSelected(resource, created, condition);
      if (type === 'text[]') {
        await expectSelected(resource, created, ...conditions.slice(n, n + 3));
      }
    }
    for (const direction of isSortable({ type }) ? (['asc', 'desc'] as const) : []) {
      const order = { ...by, direction };
      const expected = idsOf(select(name, created, { conditions: [], order }));
      const found = await readAll(records, { order, limit: 20 });
      expectEqual(`the list by ${by.field} ${direction}`, idsOf(found), expected);
    }
  });
}

/** Returns the first declared field of a type. */
function fieldOf(collection: Collection, type: DeclaredType): QueryField {
  const field = fieldsIn(declaredFields[collection]).find((one) => one.type === type)?.name ?? '';
  return { field, declaredType: type };
}

/** Returns a condition for each value or element, and ranges that begin or end at some of them. */
function conditionsOn(by: QueryField, type: DeclaredType): Condition[] {
  const condition = (op: Condition['op'], value: unknown) => ({ ...by, op, value }) as Condition;
  const sought = [...new Set([...declaredValues[type].flat(), ...unknownValues[type]])];
  const zero = type === 'number' ? [-0] : [];
  const equal = [...sought, ...zero].map((value) =>
    condition(type === 'text[]' ? 'has' : 'eq', value),
  );
  if (!isSortable({ type })) return equal;
  const ends = [...sought.filter((_, n) => n % 4 === 0), ...(type === 'number' ? rangeEnds : [])];
  const ranges = ends.flatMap((end) => [condition('from', end), condition('before', end)]);
  return [...equal, ...ranges];
}

function describeNames({ testEach }: Suite): void {
  testEach('a declared field can be named like an inherited member', async (resource) => {
    const { records, make } = resource;
    await insert(records, [make({ in: { constructor: 'en' } }), make({ 'in.constructor': 'en' })]);
    await expectMatches(records, [declaredEq('constructor', 'en')], []);
    const [id = ''] = await insert(records, [make({ constructor: 'en' })]);
    await expectMatches(records, [declaredEq('constructor', 'en')], [id]);
    await expectMatches(records, [declaredEq('constructor', 'Object')], []);
  });
}

function describeUnique({ testEach }: Suite): void {
  testEach('only the same value is taken', async (resource) => {
    const { name, records, make } = resource;
    const { field } = uniqueField(resource);
    const values = [...new Set<unknown>(declaredValues[name === 'users' ? 'number' : 'text'])];
    await insert(
      records,
      values.map((value) => make({ [field]: value })),
    );
    for (const value of values.includes(0) ? [...values, -0] : values) {
      const taken = await expectError(records.create(make({ [field]: value })), 'field-taken');
      expectEqual('the issue', taken.issues[0]?.pointer, `/${field}`);
    }
  });

  testEach('one of 30 creations and changes to the same unique value wins', async (resource) => {
    const { records, make } = resource;
    const { field, values } = uniqueField(resource);
    const ids = await insert(
      records,
      times(15, () => make()),
    );
    const change = (id: string) =>
      records.update(id, ({ record }) => ({ ...record, [field]: values[0] }));
    const creations = times(15, () => records.create(make({ [field]: values[0] })));
    const { errors } = await race<unknown>([...ids.map(change), ...creations]);
    expectEqual('the errors', errors, { 'field-taken': 29 });
  });
}
