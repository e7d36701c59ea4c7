/** A JSON Schema (2020-12, as OpenAPI 3.1 has it), as data. */
export interface JsonSchema {
  readonly [keyword: string]: SchemaValue;
}

type SchemaValue = string | number | boolean | null | JsonSchema | readonly SchemaValue[];
