import { readJson } from './i-json.ts';
import { Issues } from './issues.ts';
import type { JsonObject } from './json.ts';

/**
 * A deployment's own schema for the own fields of a kind of record: the part of Standard Schema v1
 * (https://standardschema.dev) that is used here, so that a schema of Zod, Valibot, ArkType and
 * others fits as it is.
 *
 * It sees the own fields alone and says what is wrong with them. What it would return in their
 * place is not used: own fields are stored as they were sent.
 */
export interface OwnFieldsSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult | Promise<SchemaResult>;
  };
}

type SchemaResult = { readonly value: unknown } | { readonly issues: readonly SchemaIssue[] };
type SchemaResultLike = { readonly issues?: readonly SchemaIssue[] | undefined };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Adds what a deployment's schema says of the own fields, where nothing else is wrong already. */
export function checkOwnFields(schema: OwnFieldsSchema, own: JsonObject, issues: Issues): void {
  // A copy: a schema that changes what it is shown does not change what is stored.
  const result = schema['~standard'].validate(readJson(own, new Issues()));
  if ('then' in result) {
    throw new TypeError('A schema for own fields has to be synchronous.');
  }
  for (const issue of (result as SchemaResultLike).issues ?? []) {
    const path = (issue.path ?? []).map((part) => keyOf(part));
    if (!issues.has(...path)) issues.add(path, 'invalid', issue.message);
  }
}

function keyOf(part: PropertyKey | { readonly key: PropertyKey }): string | number {
  const key = typeof part === 'object' ? part.key : part;
  return typeof key === 'symbol' ? String(key) : key;
}
