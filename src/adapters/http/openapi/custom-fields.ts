import type { JsonObject } from '../../../domain/json.ts';
import type { JsonSchema } from '../parameter.ts';
import { keySchema, reference } from './fields.ts';

/** What a schema of records says of the known fields. */
interface KnownFields {
  readonly description: string;
  readonly properties: JsonSchema;
  readonly required?: readonly string[];
}

/**
 * A record's schema with the custom fields that the deployment's schema names. Its other keywords are
 * of the custom fields alone, so that only `additionalProperties: false` holds for the whole record.
 *
 * @param isPatch whether it is the schema of a change, in which nothing is required
 */
export function withCustomFields(
  { description, properties, required = [] }: KnownFields,
  custom: JsonSchema = {},
  component = '',
  isPatch = false,
): JsonSchema {
  const members = membersOf(custom, (name, schema, isNeeded) => {
    const pointer = encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
    const field = reference(`${component}/properties/${pointer}`);
    return isPatch ? changeOf(field, schema, isNeeded) : field;
  });
  const needed = isPatch ? [] : ((custom.required ?? []) as readonly string[]);
  return {
    type: 'object',
    description,
    properties: { ...properties, ...members },
    required: [...required, ...needed],
    ...restOf(custom),
  };
}

function membersOf(
  { properties = {}, required = [] }: JsonSchema,
  describe: (name: string, schema: JsonSchema, isNeeded: boolean) => JsonSchema,
): JsonSchema {
  const needed = new Set(required as readonly string[]);
  const members = Object.entries(properties as JsonSchema).map(([name, schema]) => {
    return [name, describe(name, schema as JsonSchema, needed.has(name))] as const;
  });
  return Object.fromEntries(members);
}

/** What the members of an object may be that its schema does not name. */
function restOf({ additionalProperties, patternProperties }: JsonSchema): JsonSchema {
  const isClosed = additionalProperties === false && patternProperties === undefined;
  return {
    propertyNames: keySchema,
    additionalProperties: isClosed ? false : reference('Json'),
  };
}

/** An object is merged into what is there; all else takes the place of it, and null removes. */
function changeOf(field: JsonSchema, schema: JsonSchema, isNeeded: boolean): JsonSchema {
  const { type } = schema;
  if (type === 'object') {
    // No reference: types of TypeScript cannot refer to members of what may be absent.
    const properties = membersOf(schema, (_, member, isMemberNeeded) =>
      changeOf(member, member, isMemberNeeded),
    );
    return { type: isNeeded ? type : [type, 'null'], properties, ...restOf(schema) };
  }
  if (type === undefined || [type].flat().includes('object')) return reference('Json');
  return isNeeded ? field : { anyOf: [field, { type: 'null' }] };
}

/** A schema as a component: what it refers to in itself lies elsewhere now. */
export function rebased(schema: JsonObject, component: string): JsonSchema {
  const { $schema: _, $id: __, ...rest } = schema;
  const text = JSON.stringify(rest, (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' && /^#(\/|$)/.test(value)
      ? `#/components/schemas/${component}${value.slice(1)}`
      : value,
  );
  return JSON.parse(text) as JsonSchema;
}
