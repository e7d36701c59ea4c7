import type { Scope } from '../../../domain/caller.ts';
import type { Step } from '../context.ts';
import type { ProblemCode } from '../problems/catalogue.ts';

/** A JSON Schema (2020-12, as used by OpenAPI 3.1). */
export interface JsonSchema {
  readonly [keyword: string]: SchemaValue;
}

type SchemaValue = string | number | boolean | null | JsonSchema | readonly SchemaValue[];

/** A query parameter or a header that an endpoint accepts. */
export interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: string | number | boolean | readonly string[];
  /** How often a query parameter can be given; once if absent. */
  readonly atMost?: number;
  /** Returns a sentence that says what is wrong with a value, or undefined. */
  check?(value: string): string | undefined;
}

/** The name of a schema in the description. */
export type SchemaName =
  | `${'User' | 'Post'}${'' | 'Input' | 'Patch' | 'Page'}`
  | 'PublicUser'
  | 'Deleted'
  | 'EventPage';

/** The body that an endpoint accepts. */
export interface EndpointBody {
  readonly types: readonly string[];
  /** The response header that lists the types, in a 415 and in OPTIONS. */
  readonly acceptHeader: 'Accept-Post' | 'Accept-Patch' | 'Accept';
  /** Absent for an endpoint that the description leaves out. */
  readonly schema?: SchemaName;
}

export interface EndpointResponse {
  readonly description: string;
  readonly schema?: SchemaName;
  /** The schema for callers who see the public view only. */
  readonly publicSchema?: SchemaName;
  readonly headers?: readonly string[];
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/**
 * An endpoint: routing, validation and the description all come from this one literal. Its handler
 * runs after everything that the literal declares was checked.
 */
export interface Endpoint {
  readonly method: Method;
  /** Below the API's prefix. */
  readonly path: string;
  /** The stable name of the operation: `listUsers`. */
  readonly operation: string;
  readonly summary: string;
  readonly description?: string;
  /** The caller needs one of these; the first is enough for every record. */
  readonly scopes: readonly [Scope, ...Scope[]];
  readonly query: readonly Parameter[];
  readonly headers: readonly Parameter[];
  readonly body?: EndpointBody;
  readonly responses: Readonly<Record<number, EndpointResponse>>;
  /** Problems beside those that any request can end in. */
  readonly problems: readonly ProblemCode[];
  readonly handle: Step;
}
