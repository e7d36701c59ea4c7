import { type DeclaredType, fieldsIn, isSortable } from '../domain/fields/declared-fields.ts';
import type { Condition, QueryField } from '../domain/lists/list.ts';
import type { Collection } from '../domain/records/record.ts';
import { expectEqual, expectError, expectRecord, expectReplay, race } from './assertions.ts';
import {
  at,
  declaredValues,
  later,
  newReceipt,
  post,
  rangeEnds,
  times,
  unknownTexts,
  user,
} from './fixtures.ts';
import {
  declaredEq,
  expectMatches,
  expectSelected,
  has,
  idsOf,
  insert,
  readAll,
  select,
} from './lists.ts';
import { declaredFields, type Suite, uniqueField } from './suite.ts';

/** Conditions on declared fields, orders by them, and unique values. */
export function describeDeclaredFields(suite: Suite): void {
  for (const type of Object.keys(declaredValues) as DeclaredType[]) describeType(type, suite);
  describeConditions(suite);
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
    for (const condition of conditionsOn(by, type)) {
      await expectSelected(resource, created, condition);
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

function describeConditions({ test, testEach }: Suite): void {
  testEach('a declared field can be named like an inherited member', async (resource) => {
    const { records, make } = resource;
    await insert(records, [make({ in: { constructor: 'en' } }), make({ 'in.constructor': 'en' })]);
    await expectMatches(records, [declaredEq('constructor', 'en')], []);
    const [id = ''] = await insert(records, [make({ constructor: 'en' })]);
    await expectMatches(records, [declaredEq('constructor', 'en')], [id]);
    await expectMatches(records, [declaredEq('constructor', 'Object')], []);
  });

  testEach('finds an array by the elements that it has now', async (resource) => {
    const { name, records, make, remove } = resource;
    const { field } = fieldOf(name, 'text[]');
    const one = make({ [field]: ['a', 'b'] });
    const other = make({ [field]: ['b'] });
    await insert(records, [one, other]);
    await expectMatches(records, [has(field, 'a'), has(field, 'b')], [one.id]);
    const full = times(64, (n) => `${10 + n}${'😀'.repeat(198)}`);
    const arrays = [['b'], full, full.slice(1), [], ['b', 'a', 'b'], null, ['', 'a,b']];
    for (const [n, array] of arrays.entries()) {
      const changed = { ...one, [field]: array };
      expectRecord(await records.update(one.id, () => changed), changed, n + 2);
      for (const element of ['a', 'b', '', ...full.slice(0, 2)]) {
        await expectSelected(resource, [changed, other], has(field, element));
      }
    }
    await remove(one.id);
    await expectMatches(records, [has(field, '')], []);
  });

  test('a rejected change leaves the array as it was', async ({ posts }) => {
    const [id = ''] = await insert(posts, [post({ tags: ['a'] })]);
    const change = posts.update(id, ({ record }) => ({ ...record, tags: ['b'], authorId: 'none' }));
    await expectError(change, 'invalid-record');
    await expectMatches(posts, [has('tags', 'a')], [id]);
    await expectMatches(posts, [has('tags', 'b')], []);
  });
}

function describeUnique({ test, testEach }: Suite): void {
  testEach('only the same value is taken', async (resource) => {
    const { name, records, make } = resource;
    const { field } = uniqueField(resource);
    const values = [...new Set<unknown>(declaredValues[name === 'users' ? 'number' : 'text'])];
    await insert(
      records,
      values.map((value) => make({ [field]: value })),
    );
    for (const value of values.slice(-9)) {
      await expectError(records.create(make({ [field]: value })), 'field-taken');
    }
  });

  testEach('one record at a time has a unique value, drafts included', async (resource) => {
    const { records, make, remove } = resource;
    const { field, values } = uniqueField(resource);
    const one = make({ [field]: values[0], publishedAt: null });
    const two = make({ [field]: values[1] });
    await insert(records, [one, two]);
    const taken = async (call: Promise<unknown>) => {
      const { issues } = await expectError(call, 'field-taken');
      expectEqual('the issue', issues[0]?.pointer, `/${field}`);
    };
    await taken(records.create(make({ [field]: values[0] })));
    await taken(records.update(two.id, ({ record }) => ({ ...record, [field]: values[0] })));
    expectRecord(await records.get(two.id), two);
    await insert(records, [make({ [field]: null }), make({ [field]: null }), make(), make()]);
    await records.update(one.id, ({ record }) => ({ ...record, [field]: values[2] }));
    await records.create(make({ [field]: values[0] }));
    await remove(two.id);
    await records.create(make({ [field]: values[1] }));
  });

  testEach('a repeated creation is replayed before unique values are checked', async (resource) => {
    const { records, make } = resource;
    const { field, values } = uniqueField(resource);
    const receipt = newReceipt();
    const record = make({ [field]: values[0] });
    await records.create(record, receipt);
    await expectReplay(records, receipt, record, make({ [field]: values[0] }));
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

  test('deleting a user frees the unique values of deleted posts, not of kept posts', async (store) => {
    const { users, posts } = store;
    const ada = user();
    const bob = user();
    await insert(users, [ada, bob]);
    await insert(posts, [
      post({ authorId: ada.id, slug: 'a' }),
      post({ authorId: bob.id, slug: 'b' }),
    ]);
    await users.delete(ada.id, 'delete', later);
    await users.delete(bob.id, 'keep', at(5));
    await posts.create(post({ slug: 'a' }));
    await expectError(posts.create(post({ slug: 'b' })), 'field-taken');
  });
}
