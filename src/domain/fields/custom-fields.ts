import { checkSynchronous } from '../options.ts';
import { JsonReader } from '../records/i-json.ts';
import { copyJson, isPlainObject, type Json, type JsonObject } from '../records/json.ts';
import type { Issues } from './issues.ts';

/** Custom fields as a caller passes them, without a schema. */
export interface CustomFieldsInput {
  readonly [field: string]: Json | undefined;
}

/**
 * A deployment's own schema for the custom fields of users or of posts: the part of Standard Schema v1
 * (https://standardschema.dev) that is used here, so that a schema of Zod, Valibot, ArkType and
 * others works unchanged.
 *
 * It gets only the custom fields, and its result is stored. So the result must be JSON, must not contain a
 * known field, and must be accepted by the schema again. A schema runs only when custom fields change. It
 * must be synchronous and must not throw; otherwise the call fails.
 * (Rostrum can't catch an asynchronous check that rejects: Zod, for example, runs it synchronously first and
 * drops its promise, which ends a Node process.)
 */
export interface CustomFieldsSchema<In extends object = object, Out extends object = object> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: In; readonly output: Out } | undefined;
  };
  /** The names of its fields, if the schema can list them. */
  readonly names?: ReadonlySet<string> | undefined;
}

/** No value has this member, so a schema that is required to have it does not compile. */
interface SchemaError<Sentence extends string> {
  readonly 'this schema cannot be used': Sentence;
}

/** `unknown` for a schema that its types allow, otherwise a {@link SchemaError}. */
export type CheckedSchema<In extends object, Out extends object, Known extends PropertyKey> = [
  Extract<keyof Out, Known>,
] extends [never]
  ? false extends IsJson<Out>
    ? SchemaError<'It returns a value that is not JSON.'>
    : [Out] extends [In]
      ? unknown
      : SchemaError<'It does not accept its own result.'>
  : SchemaError<'It contains a field that Rostrum already has.'>;

/** Stops at `Json`, and after 9 levels: recursive schemas would be infinitely deep. */
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

/** The named members of an object, without its index signature, which would hide them. */
export type Named<T> = T extends readonly unknown[]
  ? never
  : { [K in keyof T as string extends K ? never : K]: T[K] };

interface SchemaIssue {
  readonly message: string;
  /** Some libraries add a code of their own, which Standard Schema does not define. */
  readonly code?: unknown;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * Applies a schema to custom fields. Adds its issues at paths that have none yet.
 *
 * @throws TypeError for a schema that cannot be used
 */
export function applySchema(
  schema: CustomFieldsSchema,
  custom: JsonObject,
  isKnown: (field: string) => boolean,
  issues: Issues,
): JsonObject {
  const { value, issues: found } = validate(schema, custom);
  for (const { path = [], code, message } of found) {
    const keys = path.map(keyOf);
    // Some libraries, and our own JSON Schema, report a missing field; others only a wrong type.
    if (!issues.has(...keys)) issues.add(keys, code === 'required' ? code : 'invalid', message);
  }
  if (found.length > 0 || issues.list.length > 0) return custom;

  const reader = new JsonReader();
  const result = isPlainObject(value) ? reader.read(value) : undefined;
  const [issue] = reader.issues.list;
  if (result === undefined || issue !== undefined) {
    const where = issue === undefined ? '' : ` (${issue.pointer}: ${issue.message})`;
    throw new TypeError(`The schema of custom fields did not return a JSON object${where}.`);
  }
  const clash = Object.keys(result as JsonObject).find(isKnown);
  if (clash !== undefined) {
    throw new TypeError(
      `The schema of custom fields returned "${clash}", which is one of Rostrum's own fields.`,
    );
  }
  if (validate(schema, result as JsonObject).issues.length > 0) {
    throw new TypeError('The schema of custom fields does not accept its own result.');
  }
  return result as JsonObject;
}

function validate(
  schema: CustomFieldsSchema,
  custom: JsonObject,
): { readonly value: unknown; readonly issues: readonly SchemaIssue[] } {
  let result: unknown;
  try {
    // A copy, so that a schema that modifies its input does not modify what is stored.
    result = schema['~standard'].validate(copyJson(custom));
  } catch (cause) {
    throw new TypeError('The schema of custom fields threw an error.', { cause });
  }
  // Some libraries return a promise when a check throws.
  checkSynchronous(result, 'The schema of custom fields');
  const { value, issues = [] } = (result ?? {}) as { value?: unknown; issues?: unknown };
  if (Array.isArray(issues) && issues.every(isSchemaIssue)) return { value, issues };
  throw new TypeError('The schema of custom fields did not return a Standard Schema result.');
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
