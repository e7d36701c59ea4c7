import type { FieldDeclarations } from '../../../domain/fields/declared-fields.ts';
import {
  changeSchemas,
  customFieldSchemas,
  isClosed,
} from '../../../domain/fields/field-schemas.ts';
import { isPlainObject, type JsonObject } from '../../../domain/records/json.ts';
import type { JsonSchema } from '../endpoint.ts';
import { reference } from './fields.ts';

/** The custom fields that are declared or in a deployment's own schema. */
export interface CustomFields {
  /** Of a record and an input. */
  readonly properties: JsonSchema;
  /** Of a merge patch, in which nothing is required. */
  readonly changes: JsonSchema;
  readonly required: readonly string[];
  /** Whether a record can have other fields. */
  readonly isOpen: boolean;
  /** The targets of the schema's references. */
  readonly components: JsonSchema;
}

/** @param prefix of the names of components */
export function customFieldsOf(
  prefix: string,
  declared: FieldDeclarations | undefined,
  own: JsonObject = {},
): CustomFields {
  const components: Record<string, JsonSchema> = {};

  /**
   * Turns the targets of references into components: generators read references to whole components only. Clients in Go
   * and Java would read a number without a format as a float of 32 bits.
   */
  const rebased = (schema: unknown): JsonSchema =>
    JSON.parse(
      JSON.stringify(schema, (key, value: unknown) => {
        if (key === '$ref' && typeof value === 'string') return referenceTo(value);
        return isPlainObject(value) && isNumber(value as JsonSchema)
          ? { format: 'double', ...value }
          : value;
      }),
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
  const schemas = customFieldSchemas(declared, own);
  return {
    properties: rebased(schemas),
    changes: rebased(changeSchemas(schemas, own.required)),
    required: (own.required ?? []) as readonly string[],
    isOpen: !isClosed(own),
    components,
  };
}

/** True for the schema of a number, and not for an object with a member that is named `type`. */
function isNumber({ type }: JsonSchema): boolean {
  return type === 'number' || (Array.isArray(type) && type.includes('number'));
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
