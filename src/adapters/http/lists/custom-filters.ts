import type {
  CustomFilter,
  CustomFilterFields,
  CustomFilterType,
} from '../../../domain/custom-filters.ts';
import type { Query } from '../exchange.ts';
import type { Parameter } from '../parameter.ts';

/** What a value may be, and an example. */
const forms = {
  text: ['string', 'on-engines'],
  number: [['number', 'string'], 1815],
  boolean: [['boolean', 'string'], true],
} as const;

/** A number of JSON (RFC 8259, section 6). */
const numberForm = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The parameters of the custom fields that a deployment has declared. */
export function customParameters(fields: CustomFilterFields = {}): readonly Parameter[] {
  return Object.entries(fields).map(([name, type]) => ({
    name,
    description: `Only records whose custom field ${name} is this ${type}, exactly. Anything else matches nothing.`,
    schema: { type: forms[type][0] },
    example: forms[type][1],
  }));
}

/**
 * What a query asks of custom fields. What is not of the form of its type stays a text, which no
 * field of that type equals.
 */
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
