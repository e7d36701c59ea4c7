import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonSchema } from '../../../../src/adapters/http/parameter.ts';
import { isEmail } from '../../../../src/domain/email.ts';

/** The formats of the API's schemas. */
export const formats = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  'idn-email': isEmail,
  int32: true,
  int64: true,
} as const;

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true, formats });
const compiled = new Map<JsonSchema, ValidateFunction>();

/** What a schema has against a value; nothing when it is valid. */
export function complaints(schema: JsonSchema, value: unknown): readonly string[] {
  const validate = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, validate);
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
