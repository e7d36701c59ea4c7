import type { FieldRule, TextRule } from '../../../domain/fields/rules.ts';
import type { JsonSchema } from '../endpoint.ts';

/** A string without NUL. A schema cannot exclude lone surrogates. */
const clean = String.raw`^[^\u0000]*$`;

/** The characters that JavaScript trims, spelled out: `\s` differs between languages. */
const space = String.raw`\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`;

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
    case 'text': {
      const { minLength, maxLength } = rule;
      const pattern = `^[^${excluded(rule)}]*$`;
      return { type, ...(minLength > 0 && { minLength }), maxLength, pattern };
    }
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
      return { type, pattern: clean, description: `The id of an existing ${rule.to}.` };
  }
}

/** The schema of a field in requests. Its length does not count trimmed white space. */
export function givenSchema(rule: FieldRule): JsonSchema {
  const nullable = rule.fallback !== undefined;
  if (rule.type !== 'text' || !rule.trim) return storedSchema(rule, nullable);
  const visible = rule.visible ? ', at least one of them visible' : '';
  const controls = rule.controls ? '' : ' No control characters.';
  const length = `${rule.minLength} to ${rule.maxLength} characters after trimming`;
  const description = `${length}${visible}.${controls}`;
  const type = nullable ? ['string', 'null'] : 'string';
  return { type, pattern: trimmedPattern(rule), description };
}

/** Describes the fallback in words: generators take the keyword `default` to mean that the field is always there. */
export function withFallback({ type, fallback }: FieldRule, schema: JsonSchema): JsonSchema {
  if (fallback === undefined) return schema;
  const { description = '' } = schema;
  const absent = type === 'instant' ? 'now, or as it was' : JSON.stringify(fallback);
  return { ...schema, description: `${description} If absent: ${absent}.`.trim() };
}

/** The characters that a text of the rule cannot have, for a class of a pattern. */
function excluded({ controls }: TextRule): string {
  return String.raw`\u0000${controls ? '' : String.raw`-\u001f\u007f-\u009f`}`;
}

/**
 * White space, a text of the rule's length that does not begin or end with it, white space. Only the description
 * says that a character must be visible: few languages have a pattern for that.
 */
function trimmedPattern(rule: TextRule): string {
  const { minLength, maxLength } = rule;
  const edge = `[^${space}${excluded(rule)}]`;
  const between = `[^${excluded(rule)}]{${Math.max(minLength - 2, 0)},${maxLength - 2}}`;
  const text = `${edge}(?:${between}${edge})${minLength > 1 ? '' : '?'}`;
  return `^[${space}]*${minLength > 0 ? text : `(?:${text})?`}[${space}]*$`;
}
