import { fieldsIn } from '../domain/declared-fields.ts';
import type { Condition } from '../domain/list.ts';
import type { Collection, Entity } from '../domain/record.ts';
import { searchFields } from '../domain/search.ts';
import { prefixSpan } from '../domain/text.ts';
import { expectEqual } from './assertions.ts';
import { expandingCharacter, longTexts, times } from './fixtures.ts';
import {
  declaredEq,
  expectMatches,
  idsOf,
  insert,
  list,
  oneOf,
  recordsOf,
  select,
} from './lists.ts';
import { declaredFields, type Resource, rowOf, type Suite } from './suite.ts';

/** Texts that a collation, pattern, query or driver could confuse. */
const similarTexts = [
  ...['Ada', 'ada', 'ADA', 'Ada ', 'Ada L', 'Ad', 'Adá', 'Ada\u0301', 'ada\u0300', 'a%', 'a_'],
  ...['.*', '$ne', '%', '😀', '😀 Ada', 'Ada\ufffd', 'Ada', 'b', 'ß', 'SS', 'ss', 'ſ', 'Σ', 'ς'],
  ...longTexts(200),
  ...longTexts(200, expandingCharacter),
];

/** Texts of no record. */
const unknownTexts = ['A%', 'Ada\u0001', 'x'.repeat(199), 'null', '', 'e'];

/** Values of custom fields of any type. */
const mixedValues = [null, 0, 1, '', '0', '1', 'true', 'en', true, false, ['en'], [5], [true], {}];

/** Numbers that a database could round or print alike. */
const numbers = [
  ...[-1, 5, 0.1, 0.2, 0.3, 0.1 + 0.2, 5e-324, 1e-323, 2.2250738585072014e-308],
  ...[1.2583863696070281e-262, 3.49716920597803e-105, 1 / 3, 0.33333333333333326],
  ...[2 ** 31, 2 ** 53 - 1, 2 ** 53 - 2, 1 - 2 ** 53, 1.5, 123456789.12345679, 123456789.12345678],
];

/** Conditions of lists. The random calls combine them. */
export function describeFilters(suite: Suite): void {
  describeSearchFields(suite);
  describeCustomConditions(suite);
}

function describeSearchFields({ testEach }: Suite): void {
  for (const op of ['eq', 'in', 'from', 'before', 'isNull'] as const) {
    testEach(`"${op}" on each search field`, async (resource) => {
      const created = await insertVaried(resource);
      const fields = ['id', ...Object.keys(searchFields[resource.name])];
      for (const field of fields) {
        const rows = created.map((record) => rowOf(resource.name, record));
        const found = rows.flatMap((row) => row[field] ?? []);
        for (const condition of conditionsOf(field, op, [...new Set(found)])) {
          await expectSelected(resource, created, condition);
        }
      }
    });
  }

  testEach('"in" with a hundred ids', async ({ records, make }) => {
    const [a = '', b = '', c = ''] = await insert(records, [make(), make(), make()]);
    await expectMatches(records, [oneOf('id', [b, b, 'none', b, '', '__proto__'])], [b]);
    const hundred = [...times(97, (n) => `none-${n}`), c, b, a];
    await expectMatches(records, [oneOf('id', hundred)], [a, b, c]);
  });
}

function conditionsOf(field: string, op: Condition['op'], found: readonly string[]): Condition[] {
  if (op === 'isNull') return [{ field, op }];
  const sought = [...found, ...unknownTexts];
  if (op === 'eq') return sought.map((value) => ({ field, op, value }));
  if (op === 'in')
    return times(6, (n) => ({ field, op, value: sought.filter((_, m) => m % 6 === n) }));
  // Strings with a given prefix end before the next prefix of the same length.
  const ends = sought.flatMap((text) => prefixSpan(text).before ?? []);
  return [...sought, ...ends].filter((_, n) => n % 3 === 0).map((value) => ({ field, op, value }));
}

/** Stores records with similar texts; every third user has no address. */
async function insertVaried<R extends Entity>({ name, records, make }: Resource<R>): Promise<R[]> {
  const created = similarTexts.map((text, n) => {
    if (name === 'posts') return make({ title: text });
    const email = `${text.replace(/[^\p{L}%$.]/gu, '')}${n}@example.com`;
    return make({ name: text, email: n % 3 > 0 ? email : null });
  });
  await insert(records, created);
  return created;
}

async function expectSelected<R extends Entity>(
  { name, records }: Resource<R>,
  created: readonly R[],
  ...conditions: readonly Condition[]
): Promise<void> {
  const order = { field: 'createdAt', direction: 'asc' } as const;
  const expected = idsOf(select(name, created, { conditions, order }));
  const { items, total } = await list(records, { conditions, total: true });
  expectEqual('the list', idsOf(recordsOf(items)), expected);
  expectEqual('the total', total, expected.length);
}

/** Custom fields that a deployment has declared as filters. */
function describeCustomConditions({ testEach }: Suite): void {
  testEach('a custom text matches only the same text', async (resource) => {
    const values = ['"', "'", '\\', ...similarTexts, ...longTexts(1001), ...mixedValues];
    await expectEachFound(resource, 'text', values, [...unknownTexts, 'e%', '["en"]', '{}']);
  });

  testEach('a custom number matches only the same number, to the last bit', async (resource) => {
    await expectEachFound(resource, 'number', [...numbers, ...mixedValues], [7, 1e300, -5e-324]);
  });

  testEach('a custom boolean matches only the same boolean', async (resource) => {
    await expectEachFound(resource, 'boolean', mixedValues, []);
  });

  testEach('a condition on a custom field ignores inherited properties', async (resource) => {
    const { records, make } = resource;
    const field = fieldOf(resource, 'text');
    await insert(records, [make({ in: { [field]: 'en' } }), make({ [`in.${field}`]: 'en' })]);
    await expectMatches(records, [declaredEq(field, 'en')], []);
    const [id = ''] = await insert(records, [make({ constructor: 'en' })]);
    await expectMatches(records, [declaredEq('constructor', 'en')], [id]);
    await expectMatches(records, [declaredEq('constructor', 'Object')], []);
  });
}

type Type = 'text' | 'number' | 'boolean';

function fieldOf({ name }: { readonly name: Collection }, type: Type): string {
  const fields = fieldsIn(declaredFields[name]);
  return fields.find((declared) => declared.type === type)?.name ?? '';
}

/** Stores a record for each value, and looks for each value of the type and for unknown ones. */
async function expectEachFound<R extends Entity>(
  resource: Resource<R>,
  type: Type,
  values: readonly unknown[],
  unknown: readonly (string | number | boolean)[],
): Promise<void> {
  const field = fieldOf(resource, type);
  const created = [resource.make(), ...values.map((value) => resource.make({ [field]: value }))];
  await insert(resource.records, created);
  const own = values.filter((value) => typeof value === (type === 'text' ? 'string' : type));
  for (const value of new Set([...(own as string[]), ...unknown])) {
    await expectSelected(resource, created, declaredEq(field, value));
  }
}
