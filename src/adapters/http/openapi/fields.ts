import type { FieldRule } from '../../../domain/fields/rules.ts';
import type { JsonSchema } from '../endpoint.ts';

/** A text without control characters. */
const noControls = String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`;

/** The id in examples. */
export const sampleId = '0192f0c1-6f5e-7b1c-9d3a-0f1e2d3c4b5a';

/** Refers to a component of the description. */
export function reference(component: string, kind = 'schemas'): { readonly $ref: string } {
  return { $ref: `#/components/${kind}/${component}` };
}

export const countSchema: JsonSchema = {
  type: 'integer',
  format: 'int64',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
};

/** An object, to which later versions can add members unless it is closed. */
export function objectSchema(
  description: string,
  properties: JsonSchema,
  required: readonly string[] = Object.keys(properties),
  additionalProperties = true,
): JsonSchema {
  return { type: 'object', description, properties, required, additionalProperties };
}

/** The schema of a field in responses. */
export function storedSchema(rule: FieldRule, nullable = rule.fallback === null): JsonSchema {
  const type = nullable ? ['string', 'null'] : 'string';
  switch (rule.type) {
    case 'text':
      return {
        type,
        ...(rule.minLength > 0 && { minLength: rule.minLength }),
        maxLength: rule.maxLength,
        ...(!rule.controls && { pattern: noControls }),
      };
    case 'email':
      return {
        type,
        format: 'idn-email',
        maxLength: rule.maxBytes, // A schema counts characters, and each has at least one byte.
        description: `At most ${rule.maxBytes} bytes of UTF-8.`,
      };
    case 'instant':
      return {
        type,
        format: 'date-time',
        description: 'Null: a draft. Later than now: scheduled.',
      };
    case 'reference':
      return { type, description: `The id of an existing ${rule.to}.` };
  }
}

/** The schema of a field in requests. Rules that generators can't express as a pattern are described in words. */
export function givenSchema(rule: FieldRule): JsonSchema {
  const schema = storedSchema(rule, rule.fallback !== undefined);
  if (rule.type !== 'text' || !rule.visible) return schema;
  return {
    ...schema,
    description: 'White space around it is removed. At least one visible character.',
  };
}

/** Describes the fallback in words: generators take the keyword `default` to mean that the field is always there. */
export function withFallback({ type, fallback }: FieldRule, schema: JsonSchema): JsonSchema {
  if (fallback === undefined) return schema;
  const { description = '' } = schema;
  const absent = type === 'instant' ? 'now, or as it was' : JSON.stringify(fallback);
  return { ...schema, description: `${description} If absent: ${absent}.`.trim() };
}
