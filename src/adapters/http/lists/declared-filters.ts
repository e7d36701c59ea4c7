import {
  type DeclaredField,
  type FieldDeclarations,
  fieldsIn,
  isDeclarable,
  maxArrayLength,
} from '../../../domain/declared-fields.ts';
import { type DeclaredFilter, nextValue } from '../../../domain/declared-filters.ts';
import type { Collection } from '../../../domain/record.ts';
import type { Parameter } from '../endpoint.ts';
import type { Query } from '../target.ts';
import { bounds, narrow, readSpan } from './bounds.ts';

/** The schema's type of each value, and an example. */
const forms = {
  text: ['string', 'on-engines'],
  number: [['number', 'string'], 1815],
  boolean: [['boolean', 'string'], true],
  'text[]': ['array', ['news']],
} as const;

const words = {
  gte: 'at least this',
  gt: 'greater than this',
  lte: 'at most this',
  lt: 'less than this',
} as const;

/** A JSON number (RFC 8259, section 6). */
const numberForm = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The parameters for the custom fields that lists can be filtered by. */
export function declaredParameters(fields: FieldDeclarations | undefined): readonly Parameter[] {
  return fieldsIn(fields).flatMap((field) => [equality(field), ...rangesOf(field)]);
}

function equality({ name, type }: DeclaredField): Parameter {
  const [schemaType, example] = forms[type];
  if (type === 'text[]') {
    return {
      name,
      description: `Only records whose ${name} contains this text; repeated: all of them.`,
      schema: { type: schemaType, items: { type: 'string' }, maxItems: maxArrayLength },
      example,
      atMost: maxArrayLength,
    };
  }
  const description = `Only records whose ${name} is exactly this ${type}.`;
  return { name, description, schema: { type: schemaType }, example };
}

function rangesOf({ name, type }: DeclaredField): Parameter[] {
  if (type !== 'text' && type !== 'number') return [];
  const [schemaType, example] = forms[type];
  const schema = { type: type === 'number' ? 'number' : schemaType };
  const check = (value: string) => (isNumber(value) ? undefined : 'Must be a number.');
  const ranges = bounds.map((bound) => ({
    name: `${name}[${bound}]`,
    schema,
    example,
    ...(type === 'number' && { check }),
    description: `Only records whose ${name} is ${words[bound]}${type === 'text' ? ', by code point' : ''}.`,
  }));
  if (type === 'number') return ranges;
  const description = `Only records whose ${name} starts with this, exactly.`;
  return [...ranges, { name: `${name}[startsWith]`, description, schema, example: 'on-' }];
}

function isNumber(text: string): boolean {
  return numberForm.test(text) && Number.isFinite(Number(text));
}

/** Reads the filter on custom fields. Returns undefined if no record can match. */
export function readDeclaredFilter(
  query: Query,
  fields: FieldDeclarations | undefined,
): DeclaredFilter | undefined {
  const filter: Record<string, DeclaredFilter[string]> = {};
  for (const { name, type } of fieldsIn(fields)) {
    const values = query.get(name);
    if (type === 'text[]') filter[name] = values;
    else {
      const value = values?.[0] === undefined ? undefined : readValue(values[0], type);
      if (value === null) return undefined; // Of another type than declared.
      filter[name] = type === 'boolean' ? value : readValues(query, name, type, value);
    }
  }
  return filter;
}

/** Returns null for a text that the type doesn't have. */
function readValue(text: string, type: 'text' | 'number' | 'boolean') {
  if (type === 'text') return text;
  if (type === 'number') return isNumber(text) ? Number(text) : null;
  return text === 'true' || text === 'false' ? text === 'true' : null;
}

/** Combines an equality and bounds. */
function readValues(
  query: Query,
  name: string,
  type: 'text' | 'number',
  equal: string | number | boolean | undefined,
): DeclaredFilter[string] {
  const [startsWith] = query.get(`${name}[startsWith]`) ?? [];
  const span = readSpan<string | number>(query, name, (text) => {
    const value = type === 'number' ? Number(text) : text;
    return [value, nextValue(value)];
  });
  if (startsWith === undefined && Object.keys(span).length === 0) return equal;
  if (typeof equal === 'string' || typeof equal === 'number') {
    narrow(span, 'from', equal);
    narrow(span, 'before', nextValue(equal));
  }
  return { ...span, ...(startsWith !== undefined && { startsWith }) } as DeclaredFilter[string];
}

/** Says how to declare a field that a list was asked to be filtered by. */
export function indexHint(collection: Collection): (name: string) => string {
  return (name) => {
    const field = name.replace(/\[\w+\]$/, '');
    if (!isDeclarable(collection, field)) return '';
    return ` To filter by "${field}", start the server with --field ${collection}.${field}:text.`;
  };
}
