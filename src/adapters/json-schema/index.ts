/** Schemas of custom fields in files of JSON Schema. */
import { readFileSync } from 'node:fs';
import type { ErrorObject } from 'ajv/dist/2020.js';
import type { CustomFieldsSchema } from '../../domain/fields/custom-fields.ts';
import {
  type DeclaredFields,
  type DeclaredType,
  fieldsIn,
} from '../../domain/fields/declared-fields.ts';
import { knownFields } from '../../domain/fields/rules.ts';
import {
  canonicalJson,
  isPlainObject,
  type Json,
  type JsonObject,
} from '../../domain/records/json.ts';
import type { Collection } from '../../domain/records/record.ts';
import type { CustomFieldsSchemas } from '../../domain/services/rostrum.ts';

/** Thrown for a schema file that cannot be used. The message says what to do. */
export class SchemaFileError extends Error {
  override readonly name = 'SchemaFileError';
}

/** A schema of custom fields, with its source. */
export interface JsonFieldsSchema extends CustomFieldsSchema {
  readonly jsonSchema: JsonObject;
}

/** The files of a deployment's schemas, as the settings name them. */
export interface SchemaFiles {
  readonly userSchema?: string | undefined;
  readonly postSchema?: string | undefined;
  /** The public fields of users: a schema that forbids other fields must list them. */
  readonly publicUserFields?: readonly string[] | undefined;
  /** The declared fields: a schema must not give them another type. */
  readonly declaredFields?: DeclaredFields | undefined;
}

/** The flags that name the files. */
const flags = { users: '--user-schema', posts: '--post-schema' } as const;

/** Up to this many characters of custom fields, all errors are reported; beyond it, only the first. */
const smallText = 64 * 1024;

/** @throws SchemaFileError */
export async function readSchemaFiles(files: SchemaFiles): Promise<CustomFieldsSchemas> {
  const { userSchema, postSchema, publicUserFields = [], declaredFields = {} } = files;
  const read = async (path: string | undefined, list: Collection) => {
    if (path === undefined) return undefined;
    const schema = await readSchemaFile(path, list);
    const names = list === 'users' ? publicUserFields.filter((name) => name !== 'email') : [];
    const wrong = names.find((name) => !mayHave(schema.jsonSchema, name));
    if (wrong !== undefined) {
      throw refusal(path, list, `has no "${wrong}": a public field must be in it`);
    }
    for (const { name, type } of fieldsIn(declaredFields[list])) {
      const other = otherType(schema.jsonSchema, name, type);
      if (other === undefined) continue;
      const reason = `gives "${name}" the type ${other}, but it is declared as ${type}`;
      throw refusal(path, list, reason);
    }
    return schema;
  };
  return { users: await read(userSchema, 'users'), posts: await read(postSchema, 'posts') };
}

/** Returns false if a schema forbids other fields and does not list the name. */
function mayHave(schema: JsonObject, name: string): boolean {
  const { properties, patternProperties, additionalProperties } = schema;
  if (additionalProperties !== false || patternProperties !== undefined) return true;
  return isPlainObject(properties) && Object.hasOwn(properties, name);
}

/** The types of JSON Schema that values of a declared field can have. */
const schemaTypes: Readonly<Record<DeclaredType, readonly string[]>> = {
  text: ['string'],
  number: ['number', 'integer'],
  boolean: ['boolean'],
  'text[]': ['array'],
};

/** Returns the type that a schema gives a field, if no value of it can have the declared type. */
function otherType(
  { properties }: JsonObject,
  name: string,
  declared: DeclaredType,
): string | undefined {
  const field = isPlainObject(properties) && Object.hasOwn(properties, name) && properties[name];
  if (!isPlainObject(field)) return undefined;
  const { type = [], items } = field;
  const types = [type].flat();
  if (types.length > 0 && !types.some((one) => schemaTypes[declared].includes(one as string))) {
    return types.join(' or ');
  }
  if (declared !== 'text[]' || !isPlainObject(items)) return undefined;
  const element = otherType({ properties: { items: items as JsonObject } }, 'items', 'text');
  return element && `array of ${element}`;
}

/** The formats that are checked; others are ignored. */
const formats = ['date-time', 'date', 'email', 'uri'] as const;

/**
 * Reads a JSON Schema (draft 2020-12) of the custom fields of users or of posts. It validates and
 * changes nothing: a `default` is not filled in.
 *
 * @throws SchemaFileError
 */
export async function readSchemaFile(path: string, list: Collection): Promise<JsonFieldsSchema> {
  const jsonSchema = readObject(path, list);
  for (const part of [jsonSchema.properties, jsonSchema.required]) {
    const names = Array.isArray(part) ? part : Object.keys(isPlainObject(part) ? part : {});
    const known = names.find((name) => knownFields[list].includes(name));
    if (known === undefined) continue;
    const reason = `names "${known}": a schema is of a deployment's custom fields alone`;
    throw refusal(path, list, reason);
  }
  const { first, all } = await compile(path, list, jsonSchema);
  const validate = (value: unknown) => {
    // One value can have hundreds of thousands of errors, each of which takes memory.
    const judge = JSON.stringify(value).length > smallText ? first : all;
    return judge(value) ? { value } : { issues: (judge.errors ?? []).map(issueOf) };
  };
  const names = new Set(Object.keys(Object(jsonSchema.properties)));
  return { jsonSchema, names, '~standard': { version: 1, vendor: 'rostrum', validate } };
}

async function compile(path: string, list: Collection, schema: JsonObject) {
  const [{ Ajv2020 }, { default: addFormats }] = await Promise.all([
    import('ajv/dist/2020.js'),
    import('ajv-formats'),
  ]);
  const options = {
    ...({ strictTypes: false, strictTuples: false, logger: false } as const),
    multipleOfPrecision: 6, // Otherwise 19.99 would not be a multiple of 0.01.
    ownProperties: true, // Otherwise every record would have a field named "constructor".
    code: { regExp: await linearRegExp() },
    formats: Object.fromEntries(formatsIn(schema).map((format) => [format, true] as const)),
  } as const;
  const compiled = (more = {}) => {
    const ajv = new Ajv2020({ ...options, ...more });
    addFormats.default(ajv, [...formats]);
    // `nullable` is OpenAPI's; `$anchor` is resolved, but missing among the keywords.
    ajv.removeKeyword('nullable').addKeyword('$anchor');
    ajv.removeKeyword('uniqueItems').addKeyword({
      keyword: 'uniqueItems',
      type: 'array',
      schemaType: 'boolean',
      // Ajv compares every two items: seconds for some thousand objects.
      validate: (isUnique: boolean, items: readonly Json[]) =>
        !isUnique || new Set(items.map((item) => canonicalJson(item))).size === items.length,
      error: { message: 'must NOT have duplicate items' },
    });
    return ajv.compile(schema);
  };
  try {
    const { $schema = draft } = schema;
    if (typeof $schema !== 'string' || $schema.replace(/#$/, '') !== draft) {
      const given = JSON.stringify($schema);
      throw new Error(`its $schema is ${given}; leave it out, or write "${draft}"`);
    }
    if (schema.$async === true) throw new Error('it must be synchronous');
    return { first: compiled(), all: compiled({ allErrors: true }) };
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n');
    const last = reason.replace(/\.$/, '');
    throw refusal(path, list, `cannot be used as JSON Schema (draft 2020-12): ${last}`);
  }
}

const draft = 'https://json-schema.org/draft/2020-12/schema';

/** Every format that a schema names, at any depth. */
function formatsIn(value: Json | undefined): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { format } = value as JsonObject;
  const inside = Object.values(value).flatMap(formatsIn);
  return typeof format === 'string' ? [format, ...inside] : inside;
}

/**
 * Regular expressions that run in linear time (RE2), whatever a schema contains: with those of
 * JavaScript, a nested repetition doubles the time with each character.
 */
async function linearRegExp() {
  const { RE2JS } = await import('re2js');
  const compile = (pattern: string) => {
    // Throws for look-arounds and back-references, which RE2 doesn't support.
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => pattern };
  };
  return Object.assign(compile, { code: 'linearRegExp' });
}

function readObject(path: string, list: Collection): JsonObject {
  let schema: unknown;
  try {
    schema = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw refusal(path, list, 'is not JSON');
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw refusal(path, list, isMissing ? 'is not there' : 'cannot be read');
  }
  if (!isPlainObject(schema)) throw refusal(path, list, 'does not have a JSON object');
  return schema as JsonObject;
}

function refusal(path: string, list: Collection, what: string): SchemaFileError {
  return new SchemaFileError(`The schema file ${path} of ${flags[list]} ${what}.`);
}

/** Returns what is wrong and where, in plain words. */
function issueOf({ instancePath, keyword, params, message = '' }: ErrorObject) {
  const path = instancePath.split('/').slice(1);
  const keys = path.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
      keys.push(params.missingProperty);
      return { path: keys, code: 'required', message: 'This field is required.' };
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name: string = params.additionalProperty ?? params.unevaluatedProperty;
      return { path: [...keys, name], message: 'There is no such field in the schema.' };
    }
    case 'type':
      return { path: keys, message: `Must be of the type ${[params.type].flat().join(' or ')}.` };
    case 'enum':
      return { path: keys, message: `Must be one of ${JSON.stringify(params.allowedValues)}.` };
    case 'const':
      return { path: keys, message: `Must be ${JSON.stringify(params.allowedValue)}.` };
  }
  const words = message.replaceAll('NOT', 'not');
  return { path: keys, message: `${words.charAt(0).toUpperCase()}${words.slice(1)}.` };
}
