import type { JsonObject } from '../../../domain/json.ts';
import type { JsonSchema } from '../endpoint.ts';
import { reference } from './fields.ts';

/** A schema of a record's known fields. */
interface KnownFields {
  readonly description: string;
  readonly properties: JsonSchema;
  readonly required?: readonly string[];
}

/**
 * Adds the custom fields that a deployment's schema names to the schema of a record. Of its other keywords only
 * `additionalProperties: false` applies to the whole record.
 *
 * @param isPatch true for the schema of a change, in which nothing is required
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
    ...additionalPropertiesOf(custom),
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

/** Returns the keyword that says whether an object can have members that its schema does not list. */
function additionalPropertiesOf(schema: JsonSchema): JsonSchema {
  const isClosed = schema.additionalProperties === false && schema.patternProperties === undefined;
  return { additionalProperties: !isClosed };
}

/** An object is merged into the present one; anything else replaces it, and null removes it. */
function changeOf(field: JsonSchema, schema: JsonSchema, isNeeded: boolean): JsonSchema {
  const { type } = schema;
  if (type === 'object') {
    // Not a reference: TypeScript types cannot refer to members of something optional.
    const properties = membersOf(schema, (_, member, isMemberNeeded) =>
      changeOf(member, member, isMemberNeeded),
    );
    return {
      type: isNeeded ? type : [type, 'null'],
      properties,
      ...additionalPropertiesOf(schema),
    };
  }
  if (type === undefined || [type].flat().includes('object')) return {};
  return isNeeded ? field : { anyOf: [field, { type: 'null' }] };
}

/** Rewrites a schema's references to itself, so that it can become a component. */
export function rebaseRefs(schema: JsonObject, component: string): JsonSchema {
  const { $schema: _, $id: __, ...rest } = schema;
  const text = JSON.stringify(rest, (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' && /^#(\/|$)/.test(value)
      ? `#/components/schemas/${component}${value.slice(1)}`
      : value,
  );
  return JSON.parse(text) as JsonSchema;
}
