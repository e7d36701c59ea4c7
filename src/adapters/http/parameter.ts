/** A JSON Schema (2020-12, as OpenAPI 3.1 has it), as data. */
export interface JsonSchema {
  readonly [keyword: string]: SchemaValue;
}

type SchemaValue = string | number | boolean | null | JsonSchema | readonly SchemaValue[];

/** A query parameter that an endpoint takes, or a header that it reads. */
export interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** A value that it may have. */
  readonly example: string | number | boolean | readonly string[];
  /** How often a query parameter may be given; once when absent. */
  readonly atMost?: number;
  /** What is wrong with a value, as a sentence. */
  check?(value: string): string | undefined;
}

/** What a body may be. */
export interface BodyForm {
  readonly types: readonly string[];
  /** The header that lists the types where they are not met. */
  readonly acceptHeader: 'Accept-Post' | 'Accept-Patch' | 'Accept';
}
