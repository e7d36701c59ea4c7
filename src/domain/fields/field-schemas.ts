import { isPlainObject, type Json, type JsonObject } from '../records/json.ts';
import { type FieldDeclarations, fieldsIn } from './declared-fields.ts';
import { type DeclaredRule, declaredRules } from './rules.ts';

// JSON Schemas (2020-12) of custom fields, for the descriptions of HTTP and MCP.

export type FieldSchemas = Readonly<Record<string, Json>>;

/**
 * Returns the schemas of the custom fields that are declared or in a deployment's own schema. A field that is both
 * follows both.
 */
export function customFieldSchemas(
  declared: FieldDeclarations | undefined,
  own: JsonObject = {},
): FieldSchemas {
  const schemas = { ...(own.properties as JsonObject | undefined) };
  for (const { name, type } of fieldsIn(declared)) {
    if (!Object.hasOwn(schemas, name) && isClosed(own)) continue;
    const { type: jsonType, ...limits } = schemaOf(declaredRules[type]);
    const schema = { type: [jsonType as string, 'null'], ...limits };
    schemas[name] = narrowed(schema, Object.hasOwn(schemas, name) ? schemas[name] : true);
  }
  return schemas;
}

/** True if a schema of objects allows only the members that it lists. */
export function isClosed({ additionalProperties, patternProperties }: JsonObject): boolean {
  return additionalProperties === false && patternProperties === undefined;
}

function schemaOf(rule: DeclaredRule): JsonObject {
  switch (rule.type) {
    case 'text':
      return { type: 'string', maxLength: rule.maxLength };
    case 'text[]':
      return { type: 'array', maxItems: rule.maxItems, items: schemaOf(rule.items) };
    default:
      return { type: rule.type };
  }
}

/** Adds another schema of the same value to the schema of a declared field, or of its elements. */
function narrowed(schema: JsonObject, own: Json | undefined): Json {
  if (own === false) return false;
  if (!isPlainObject(own)) return schema;
  const both: Record<string, Json> = { ...schema, ...(own as JsonObject) };
  for (const limit of ['maxLength', 'maxItems']) {
    const values = [schema[limit], own[limit]].filter((one) => typeof one === 'number');
    if (values.length > 0) both[limit] = Math.min(...values);
  }
  if (schema.items !== undefined) both.items = narrowed(schema.items as JsonObject, both.items);
  const allowed = [schema.type].flat();
  const types = [both.type].flat() as string[];
  const common = types.filter((type) => allowed.includes(type === 'integer' ? 'number' : type));
  if (common.length === 0) return false;
  both.type = common.length === 1 ? (common[0] as string) : common;
  return both;
}

/** Returns the schemas of fields in a merge patch (RFC 7396). */
export function changeSchemas(schemas: FieldSchemas, required: Json = []): FieldSchemas {
  const isNeeded = (name: string) => (required as readonly string[]).includes(name);
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, changeOf(schema, isNeeded(name))]),
  );
}

/** An object is merged into the present one; anything else replaces it, and null removes it. */
function changeOf(field: Json, isNeeded: boolean): Json {
  const schema = field as JsonObject;
  const { type } = schema;
  if (type === 'object') {
    return {
      type: isNeeded ? type : [type, 'null'],
      properties: changeSchemas((schema.properties ?? {}) as JsonObject, schema.required),
      additionalProperties: !isClosed(schema),
    };
  }
  if (type === undefined || [type].flat().includes('object')) return {};
  if (isNeeded) return schema;
  const isPlain = Object.keys(schema).every((keyword) => !alternatives.has(keyword));
  return isPlain
    ? { ...schema, type: [...new Set([type].flat()).add('null')] }
    : { anyOf: [schema, { type: 'null' }] };
}

/** Keywords that can reject null, whatever the type. */
const alternatives = new Set('$ref $dynamicRef allOf anyOf oneOf not if const enum'.split(' '));
