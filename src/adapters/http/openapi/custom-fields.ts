import type { FieldDeclarations } from '../../../domain/declared-fields.ts';
import { customFieldSchemas, isClosed } from '../../../domain/declared-schema.ts';
import { isPlainObject, type JsonObject } from '../../../domain/json.ts';
import type { JsonSchema } from '../endpoint.ts';
import { reference } from './fields.ts';

type JsonSchemas = Readonly<Record<string, JsonSchema>>;

/** The custom fields that are declared or in a deployment's own schema. */
export interface CustomFields {
  /** Of a record and an input. */
  readonly properties: JsonSchema;
  /** Of a merge patch, in which nothing is required. */
  readonly changes: JsonSchema;
  readonly required: readonly string[];
  /** Whether a record can have other fields. */
  readonly isOpen: boolean;
  /** The parts of the schema that references in it lead to. */
  readonly components: JsonSchema;
}

/** @param prefix of the names of components */
export function customFieldsOf(
  prefix: string,
  declared: FieldDeclarations | undefined,
  own: JsonObject = {},
): CustomFields {
  const components: Record<string, JsonSchema> = {};

  /** Turns the targets of references into components: generators read references to whole components only. */
  const rebased = (schema: unknown): JsonSchema =>
    JSON.parse(
      JSON.stringify(schema, (key, value: unknown) =>
        key === '$ref' && typeof value === 'string' ? referenceTo(value) : value,
      ),
    );
  const referenceTo = (pointer: string): string | undefined => {
    const target = targetOf(pointer, own);
    if (target === undefined) return undefined;
    const plain = pointer.replace(/^#\/\$defs\//, '');
    const name = prefix + plain.replace(/\W/gu, (sign) => `_${sign.codePointAt(0)?.toString(16)}`);
    if (!(name in components)) {
      components[name] = {}; // A schema can refer to itself.
      components[name] = rebased(target);
    }
    return reference(name).$ref;
  };

  const schemas = Object.entries(rebased(customFieldSchemas(declared, own)) as JsonSchemas);
  const properties = Object.fromEntries(schemas.map(([name, one]) => [name, asDouble(one)]));
  const { required = [] } = own as { readonly required?: readonly string[] };
  const changes = changesOf({ properties, required });
  return { properties, changes, required, isOpen: !isClosed(own), components };
}

/** Clients in Go and Java would read a number without a format as a float of 32 bits. */
function asDouble(schema: JsonSchema): JsonSchema {
  const isNumber = [schema.type].flat().includes('number') && schema.format === undefined;
  return isNumber ? { ...schema, format: 'double' } : schema;
}

/** Returns the part of a schema that a JSON Pointer leads to. */
function targetOf(pointer: string, schema: JsonObject): unknown {
  if (!/^#(?:\/|$)/.test(pointer)) return undefined;
  const keys = pointer.split('/').slice(1).map(decodeURIComponent);
  return keys.reduce<unknown>((part, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    const isMember = (isPlainObject(part) || Array.isArray(part)) && Object.hasOwn(part, name);
    return isMember ? Reflect.get(part, name) : undefined;
  }, schema);
}

/** Returns the schemas of an object's members in a merge patch. */
function changesOf({ properties = {}, required = [] }: JsonSchema): JsonSchema {
  const isNeeded = (name: string) => (required as readonly string[]).includes(name);
  const members = Object.entries(properties as JsonSchemas);
  return Object.fromEntries(members.map(([name, one]) => [name, changeOf(one, isNeeded(name))]));
}

/** An object is merged into the present one; anything else replaces it, and null removes it. */
function changeOf(field: JsonSchema, isNeeded: boolean): JsonSchema {
  const { type } = field;
  if (type === 'object') {
    return {
      type: isNeeded ? type : [type, 'null'],
      properties: changesOf(field),
      additionalProperties: !isClosed(field as JsonObject),
    };
  }
  if (type === undefined || [type].flat().includes('object')) return {};
  if (isNeeded) return field;
  const isPlain = Object.keys(field).every((keyword) => !alternatives.has(keyword));
  return isPlain
    ? { ...field, type: [...new Set([type].flat()).add('null')] }
    : { anyOf: [field, { type: 'null' }] };
}

/** Keywords that can reject null, whatever the type. */
const alternatives = new Set('$ref $dynamicRef allOf anyOf oneOf not if const enum'.split(' '));
