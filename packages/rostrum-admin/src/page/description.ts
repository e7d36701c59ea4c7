// The description of the API (OpenAPI 3.1), reduced to the parts that the page reads.

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly maxLength?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface Parameter {
  /** Absent in a reference. */
  readonly name?: string;
  readonly in?: string;
  readonly schema?: Schema;
}

interface Operation {
  readonly parameters: readonly Parameter[];
}

export interface Description {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
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
