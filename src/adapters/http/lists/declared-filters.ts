import {
  type DeclaredField,
  type FieldDeclarations,
  fieldsIn,
} from '../../../domain/fields/declared-fields.ts';
import { nextValue } from '../../../domain/lists/declared-filters.ts';
import type { AnyFilter } from '../../../domain/lists/declared-types.ts';
import { filterLimits } from '../../../domain/lists/list.ts';
import type { Parameter } from '../endpoint.ts';
import type { Query } from '../target.ts';
import { bounds, narrow, readSpan } from './ranges.ts';

/** The schema of each type, an example, and the check of a value. */
const forms = {
  text: { schema: { type: 'string' }, example: 'on-engines' },
  number: {
    schema: { type: 'number', format: 'double' },
    example: 1815,
    check: (value: string) => (isNumber(value) ? undefined : 'Must be a number.'),
  },
  boolean: {
    schema: { type: 'boolean' },
    example: true,
    check: (value: string) =>
      /^(?:true|false)$/.test(value) ? undefined : 'Must be true or false.',
  },
} as const;

/** A JSON number (RFC 8259, section 6). */
const numberForm = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The parameters for filters by declared fields. */
export function declaredParameters(fields: FieldDeclarations | undefined): readonly Parameter[] {
  return fieldsIn(fields).flatMap((field) => [equality(field), ...rangesOf(field)]);
}

function equality({ name, type }: DeclaredField): Parameter {
  if (type === 'text[]') {
    return {
      name,
      description: `Only records whose ${name} contains this text; repeated: all of them.`,
      schema: { type: 'array', items: { type: 'string' }, maxItems: filterLimits.elements },
      example: ['news'],
      maxCount: filterLimits.elements,
    };
  }
  return {
    name,
    description: `Only records whose ${name} is exactly this ${type}.`,
    ...forms[type],
  };
}

function rangesOf({ name, type }: DeclaredField): Parameter[] {
  if (type !== 'text' && type !== 'number') return [];
  const ranges = Object.entries(bounds).map(([bound, sign]) => ({
    ...forms[type],
    name: `${name}[${bound}]`,
    description: `Only records whose ${name} is ${sign} this${type === 'text' ? ', by code point' : ''}.`,
  }));
  if (type === 'number') return ranges;
  const description = `Only records whose ${name} starts with this, exactly.`;
  return [...ranges, { ...forms.text, name: `${name}[startsWith]`, description, example: 'on-' }];
}

function isNumber(text: string): boolean {
  return numberForm.test(text) && Number.isFinite(Number(text));
}

/** Reads the filters on declared fields. Their values are already validated. */
export function readDeclaredFilter(query: Query, fields: FieldDeclarations | undefined): AnyFilter {
  return Object.fromEntries(
    fieldsIn(fields).map(({ name, type }) => {
      const values = query.get(name);
      if (type === 'text[]') return [name, values];
      if (type === 'boolean') return [name, values && values[0] === 'true'];
      return [name, readRange(query, name, type === 'number' ? Number : String)];
    }),
  );
}

/** Combines an equality and bounds. */
function readRange(query: Query, name: string, parse: (text: string) => string | number) {
  const [text] = query.get(name) ?? [];
  const [startsWith] = query.get(`${name}[startsWith]`) ?? [];
  const equal = text === undefined ? undefined : parse(text);
  const span = readSpan<string | number>(query, name, (bound) => {
    const value = parse(bound);
    return [value, nextValue(value)];
  });
  if (startsWith === undefined && Object.keys(span).length === 0) return equal;
  if (equal !== undefined) {
    narrow(span, 'from', equal);
    narrow(span, 'before', nextValue(equal));
  }
  return { ...span, ...(startsWith !== undefined && { startsWith }) };
}
