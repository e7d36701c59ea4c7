import { JsonReader } from './i-json.ts';
import type { Issues } from './issues.ts';
import { copyJson, isPlainObject, type Json, type JsonObject } from './json.ts';
import { checkSynchronous } from './options.ts';

/** Custom fields as a caller gives them, without a schema. */
export interface CustomFieldsInput {
  readonly [field: string]: Json | undefined;
}

/**
 * A deployment's own schema for the custom fields of users or of posts: the part of Standard Schema v1
 * (https://standardschema.dev) that is used here, so that a schema of Zod, Valibot, ArkType and
 * others fits as it is.
 *
 * It sees the custom fields alone, and what it returns is stored. So that must be JSON, name no field
 * that Rostrum has already, and be accepted by the schema when it comes back. A schema runs only
 * when custom fields change. It must be synchronous, and must not throw: either is an error of the call.
 * (One thing is out of reach: an asynchronous check that rejects. Zod, for one, first runs it
 * synchronously and drops its promise, which ends a Node process.)
 */
export interface CustomFieldsSchema<In extends object = object, Out extends object = object> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: In; readonly output: Out } | undefined;
  };
}

/** No value has this member, so a schema that must have it does not compile. */
interface SchemaError<Sentence extends string> {
  readonly 'this schema cannot be used': Sentence;
}

/** `unknown` for a schema that can be used as far as types can tell, else a {@link SchemaError}. */
export type CheckedSchema<In extends object, Out extends object, Known extends PropertyKey> = [
  Extract<keyof Out, Known>,
] extends [never]
  ? false extends IsJson<Out>
    ? SchemaError<'It returns what is not JSON.'>
    : [Out] extends [In]
      ? unknown
      : SchemaError<'It does not accept what it returned.'>
  : SchemaError<'It names a field that Rostrum has already.'>;

/** Stops at what is `Json` as it is, and 9 levels down: recursive schemas would be infinitely deep. */
type IsJson<T, Level extends 1[] = []> = unknown extends T
  ? true
  : T extends Json
    ? true
    : T extends (...args: never[]) => unknown
      ? false
      : T extends object
        ? Level['length'] extends 9
          ? true
          : false extends IsJsonOf<T, Level>[keyof T] | IsJsonOf<Named<T>, Level>[keyof Named<T>]
            ? false
            : true
        : false;

type IsJsonOf<T, Level extends 1[]> = {
  [K in keyof T]-?: IsJson<Exclude<T[K], undefined>, [...Level, 1]>;
};

/** What an object has by name, without what it may have besides, which would hide it. */
type Named<T> = T extends readonly unknown[]
  ? never
  : { [K in keyof T as string extends K ? never : K]: T[K] };

interface SchemaIssue {
  readonly message: string;
  /** A library's own word, which Standard Schema does not know. */
  readonly code?: unknown;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * Applies a schema to custom fields. Its issues are added where there is none yet.
 *
 * @throws TypeError for a schema that cannot be used
 */
export function applySchema(
  schema: CustomFieldsSchema,
  given: JsonObject,
  taken: (field: string) => boolean,
  issues: Issues,
): JsonObject {
  const { value, issues: found } = validate(schema, given);
  for (const { path = [], code, message } of found) {
    const keys = path.map(keyOf);
    // Some libraries, and our own JSON Schema, say that a field is missing; others say only what it is not.
    if (!issues.has(...keys)) issues.add(keys, code === 'required' ? code : 'invalid', message);
  }
  if (found.length > 0 || issues.list.length > 0) return given;

  const reader = new JsonReader();
  const custom = isPlainObject(value) ? reader.read(value) : undefined;
  const [issue] = reader.issues.list;
  if (custom === undefined || issue !== undefined) {
    const where = issue === undefined ? '' : ` (${issue.pointer}: ${issue.message})`;
    throw new TypeError(`The schema of custom fields returned what is no JSON object${where}.`);
  }
  const clash = Object.keys(custom as JsonObject).find(taken);
  if (clash !== undefined) {
    throw new TypeError(
      `The schema of custom fields returned "${clash}", a field of Rostrum's own.`,
    );
  }
  if (validate(schema, custom as JsonObject).issues.length > 0) {
    throw new TypeError('The schema of custom fields does not accept what it returned.');
  }
  return custom as JsonObject;
}

function validate(
  schema: CustomFieldsSchema,
  custom: JsonObject,
): { readonly value: unknown; readonly issues: readonly SchemaIssue[] } {
  let result: unknown;
  try {
    // A copy: a schema that changes what it is shown does not change what is stored.
    result = schema['~standard'].validate(copyJson(custom));
  } catch (cause) {
    throw new TypeError('The schema of custom fields threw an error.', { cause });
  }
  // Some libraries return a promise when a check throws.
  checkSynchronous(result, 'The schema of custom fields must not throw. It');
  const { value, issues = [] } = (result ?? {}) as { value?: unknown; issues?: unknown };
  if (Array.isArray(issues) && issues.every(isSchemaIssue)) return { value, issues };
  throw new TypeError('The schema of custom fields returned what is no Standard Schema result.');
}

function isSchemaIssue(issue: unknown): issue is SchemaIssue {
  if (typeof issue !== 'object' || issue === null) return false;
  const { message, path } = issue as Partial<SchemaIssue>;
  return typeof message === 'string' && (path === undefined || Array.isArray(path));
}

function keyOf(part: PropertyKey | { readonly key: PropertyKey }): string | number {
  const key = typeof part === 'object' ? part.key : part;
  return typeof key === 'symbol' ? String(key) : key;
}
