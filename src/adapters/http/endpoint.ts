import type { Scope } from '../../domain/access/caller.ts';
import type { Handler, Middleware } from './context.ts';
import type { ProblemCode } from './problems/catalogue.ts';

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
  readonly maxCount?: number;
  /** Returns a sentence that says what is wrong with a value, or undefined. */
  check?(value: string): string | undefined;
}

/** What a parameter accepts: a schema, and the check that says the same. */
type ValueRule = Pick<Parameter, 'schema' | 'example' | 'check'>;

/** Accepts one of a fixed set of strings. */
export function oneOf(values: readonly string[], fallback?: string): ValueRule {
  const few = values.map((value) => `"${value}"`).join(' or ');
  const sentence = `Must be ${values.length < 3 ? few : `one of ${values.join(', ')}`}.`;
  return {
    schema: {
      type: 'string',
      enum: values,
      ...(fallback !== undefined && { default: fallback }),
    },
    example: values[0] ?? '',
    check: (value) => (values.includes(value) ? undefined : sentence),
  };
}

/** Accepts an integer within bounds, without leading zeros or a plus sign. */
export function integer(minimum: number, maximum: number, fallback: number): ValueRule {
  return {
    schema: { type: 'integer', format: 'int32', minimum, maximum, default: fallback },
    example: fallback,
    check(value) {
      const number = /^(?:0|-?[1-9]\d{0,14})$/.test(value) ? Number(value) : Number.NaN;
      const fits = number >= minimum && number <= maximum;
      return fits ? undefined : `Must be an integer from ${minimum} to ${maximum}.`;
    },
  };
}

/** The name of a schema in the description. */
export type SchemaName =
  | `${'User' | 'Post'}${'' | 'Input' | 'Patch' | 'Page'}`
  | 'PublicUser'
  | 'Deleted'
  | 'EventPage';

export interface EndpointResponse {
  readonly description: string;
  readonly schema?: SchemaName;
  /** The schema for callers who see the public view only. */
  readonly publicSchema?: SchemaName;
  readonly headers?: readonly string[];
}

/** All methods of the API, in the order of `Allow`. */
export const allMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

export type Method = (typeof allMethods)[number];

/** The media types of bodies by method, and the response header that lists them: in a 415 and in OPTIONS. */
export const acceptedBodies: { readonly [M in Method]?: AcceptedBody } = {
  POST: { types: ['application/json'], header: 'Accept-Post' },
  PUT: { types: ['application/json'], header: 'Accept' },
  PATCH: { types: ['application/merge-patch+json', 'application/json'], header: 'Accept-Patch' },
};

export interface AcceptedBody {
  readonly types: readonly string[];
  readonly header: string;
}

/**
 * An endpoint: routing, validation and the description all come from this one literal. Its handler runs once the
 * caller, query and headers are checked and the body is a JSON object; the service validates the fields.
 */
export interface Endpoint {
  /** HEAD works wherever GET does, and OPTIONS everywhere. */
  readonly method: Exclude<Method, 'HEAD' | 'OPTIONS'>;
  /** Below the API's prefix. */
  readonly path: string;
  /** The stable name of the operation: `listUsers`. */
  readonly operation: string;
  readonly summary: string;
  readonly description?: string;
  /** The caller needs one of these. A 403 names the first. */
  readonly scopes: readonly [Scope, ...Scope[]];
  /** What the description says about callers, in addition to the scopes. */
  readonly callerNote?: string;
  /** The path of the protected resource (RFC 9728) that it belongs to; the API's prefix if absent. */
  readonly resource?: string;
  /** Sets `:id` once the caller is known, before the caller's rate limit. */
  readonly resolveId?: Middleware;
  readonly query?: readonly Parameter[];
  readonly headers?: readonly Parameter[];
  /** The schema of the body; true for any JSON object, whose bytes the handler reads. */
  readonly body?: SchemaName | true;
  readonly responses: Readonly<Record<number, EndpointResponse>>;
  /** Problems in addition to those of every request. */
  readonly problems?: readonly ProblemCode[];
  /** True for a list, of which the limiter runs few at a time. */
  readonly isList?: boolean;
  readonly handle: Handler;
}
