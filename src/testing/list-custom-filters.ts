import type { Entity } from '../domain/record.ts';
import { longTexts } from './fixtures.ts';
import { findsEach, texts, unknownTexts } from './list-filters.ts';
import { matches, put } from './lists.ts';
import { customFilters, type Resource, type Suite } from './suite.ts';

/** What JSON may be where a text, a number or a boolean is looked for. */
const oddities = [null, 0, 1, '', '0', '1', 'true', 'en', true, false, ['en'], [5], [true], {}];

/** Numbers whose neighbors are other numbers, though many a database prints or parses them alike. */
const numbers = [
  ...[-1, 5, 0.1, 0.2, 0.3, 0.1 + 0.2, 5e-324, 1e-323, 2.2250738585072014e-308],
  ...[1.2583863696070281e-262, 3.49716920597803e-105, 1 / 3, 0.33333333333333326],
  ...[2 ** 31, 2 ** 53 - 1, 2 ** 53 - 2, 1 - 2 ** 53, 1.5, 123456789.12345679, 123456789.12345678],
];

/** Filters on custom fields that a deployment has declared. */
export function describeCustomFilters({ both }: Suite): void {
  both('custom: a text, exactly, and nothing of another type', async (resource) => {
    const strange = ['"', "'", '\\', ...texts, ...longTexts(1001)];
    const unknown = [...unknownTexts, 'e%', '["en"]', 'null', '{}'];
    await findsOwn(resource, 'text', [...strange, ...oddities], unknown);
  });

  both('custom: a number, to the last bit, and nothing of another type', async (resource) => {
    await findsOwn(resource, 'number', [...numbers, ...oddities], [7, 0.1 + 0.7, 1e300, -5e-324]);
  });

  both('custom: true or false, and nothing of another type', async (resource) => {
    await findsOwn(resource, 'boolean', oddities);
  });

  both('custom: a field of the record itself, whose name objects may inherit', async (resource) => {
    const { records, make } = resource;
    const name = nameOf(resource, 'text');
    await put(records, [make({ in: { [name]: 'en' } }), make({ [`in.${name}`]: 'en' })]);
    await matches(records, { custom: { [name]: 'en' } }, []);
    const [id = ''] = await put(records, [make({ constructor: 'en' })]);
    await matches(records, { custom: { constructor: 'en' } }, [id]);
    await matches(records, { custom: { constructor: 'Object' } }, []);
  });

  both('custom: a field that has the name of one of the other list', async (resource) => {
    const { name, records, make } = resource;
    const field = name === 'users' ? 'title' : 'email';
    const made = ['Ada', 'ada', null, 'Ada'].map((value) => make({ [field]: value }));
    const [a = '', b = '', , d = ''] = await put(records, made);
    await matches(records, { custom: { [field]: 'Ada' } }, [a, d]);
    await matches(records, { custom: { [field]: 'ada' } }, [b]);
    await matches(records, { custom: { [field]: 'ADA' } }, []);
  });
}

type Type = 'text' | 'number' | 'boolean';

/** The declared custom field of a type. */
function nameOf<R extends Entity>({ name }: Resource<R>, type: Type): string {
  const found = Object.entries(customFilters[name]).find(([, declared]) => declared === type);
  return found?.[0] ?? '';
}

/** Stores records with these values, and looks for each that is of the type, and for unknown ones. */
async function findsOwn<R extends Entity>(
  resource: Resource<R>,
  type: Type,
  values: readonly unknown[],
  unknown: readonly (string | number | boolean)[] = [],
): Promise<void> {
  const { records, make } = resource;
  const name = nameOf(resource, type);
  await put(records, [make()]);
  await findsEach(
    records,
    values.map((value) => [value, make({ [name]: value })]),
    [...values.filter((value) => typeof value === (type === 'text' ? 'string' : type)), ...unknown],
    (value) => ({ custom: { [name]: value as string } }),
  );
}
