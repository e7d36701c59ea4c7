// The description of the API (OpenAPI 3.1), as far as pages read it.

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly maxLength?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

export interface Parameter {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
  readonly schema?: Schema;
  /** Of the reference alone: what the fold is called that begins here. */
  'x-others'?: string;
}

export interface Response {
  readonly $ref?: string;
  description?: string;
  headers?: Readonly<Record<string, object>>;
}

export interface Operation {
  description: string;
  parameters: Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Body>> };
  responses: Record<string, Response>;
}

interface Body {
  readonly example?: unknown;
  readonly schema: { readonly $ref: string };
}

export interface Description {
  readonly info: { readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly headers: Readonly<Record<string, { readonly description: string }>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly schemas: Record<string, Schema>;
    responses?: object;
    readonly securitySchemes?: object;
  };
}

/** A schema, or the one that it refers to by a JSON Pointer (RFC 6901). */
export function resolved(schema: Schema | undefined, description: Description): Schema {
  if (schema?.$ref === undefined) return schema ?? {};
  const keys = schema.$ref.split('/').slice(1).map(decodeURIComponent).map(unescaped);
  return resolved(keys.reduce(memberOf, description as unknown) as Schema | undefined, description);
}

export const memberOf = (value: unknown, key: string): unknown =>
  (value as Readonly<Record<string, unknown>> | undefined)?.[key];

/** A key of a JSON Pointer. */
export function unescaped(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}
