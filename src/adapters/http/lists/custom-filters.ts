import type {
  CustomFilter,
  CustomFilterFields,
  CustomFilterType,
} from '../../../domain/custom-filters.ts';
import type { Parameter } from '../endpoints/endpoint.ts';
import type { Query } from '../target.ts';

/** The schema's type of each value, and an example. */
const forms = {
  text: ['string', 'on-engines'],
  number: [['number', 'string'], 1815],
  boolean: [['boolean', 'string'], true],
} as const;

/** A number of JSON (RFC 8259, section 6). */
const numberForm = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The parameters for the custom fields that lists can be filtered by. */
export function customParameters(fields: CustomFilterFields = {}): readonly Parameter[] {
  return Object.entries(fields).map(([name, type]) => ({
    name,
    description: `Only records whose custom field ${name} is exactly this ${type}.`,
    schema: { type: forms[type][0] },
    example: forms[type][1],
  }));
}

/** Reads the filter on custom fields. A value of another type stays a text, which no such field equals. */
export function readCustomFilter(
  query: Query,
  fields: CustomFilterFields = {},
): CustomFilter | undefined {
  const values = Object.entries(fields).flatMap(([name, type]) => {
    const [text] = query.get(name) ?? [];
    return text === undefined ? [] : [[name, readValue(text, type)] as const];
  });
  return values.length === 0 ? undefined : Object.fromEntries(values);
}

function readValue(text: string, type: CustomFilterType): string | number | boolean {
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  const number = type === 'number' && numberForm.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? number : text;
}
