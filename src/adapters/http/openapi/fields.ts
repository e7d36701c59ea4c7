import { type FieldRule, recordLimits, type TextRule } from '../../../domain/rules.ts';
import type { JsonSchema } from '../parameter.ts';

/** Text that I-JSON and every store can carry; that half a surrogate pair is none, no schema says. */
const clean = String.raw`^[^\u0000]*$`;

/** What JavaScript trims, spelled out: `\s` is something else in other languages. */
const space = String.raw`\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`;

/** Refers to a component of the description. */
export function reference(component: string, kind = 'schemas'): { readonly $ref: string } {
  return { $ref: `#/components/${kind}/${component}` };
}

/** How many there are of something. */
export const countSchema: JsonSchema = {
  type: 'integer',
  format: 'int64',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
};

/** Keys of an object, at any depth. */
export const keySchema: JsonSchema = {
  minLength: 1,
  maxLength: recordLimits.keyLength,
  pattern: clean,
  not: { const: '__proto__' },
};

/**
 * A value of a custom field, as far as a schema can say it. Each double beyond these bounds is an
 * integer.
 *
 * @param json refers to this schema
 */
export function jsonSchema(json: JsonSchema): JsonSchema {
  const [minimum, maximum] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  return {
    description: `Any I-JSON value (RFC 7493), nested at most ${recordLimits.depth} levels deep with the record as the first.`,
    anyOf: [
      { type: 'null' },
      { type: 'boolean' },
      { type: 'number', minimum, maximum },
      { type: 'string', pattern: clean },
      // With the reference in `items`, generators make a type of TypeScript that does not compile:
      // it refers to itself by an array.
      { type: 'array', items: {}, if: { not: {} }, else: { items: json } },
      { type: 'object', propertyNames: keySchema, additionalProperties: json },
    ],
  };
}

/** A field as it is stored and returned. */
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
        maxLength: rule.maxBytes, // As near as a schema comes: no character is less than a byte.
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

/** A field as a client may send it: where it is trimmed, what is trimmed does not count. */
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

/** In words: generators of types take the keyword `default` to mean that the field is always there. */
export function withFallback({ type, fallback }: FieldRule, schema: JsonSchema): JsonSchema {
  if (fallback === undefined) return schema;
  const { description = '' } = schema;
  const absent = type === 'instant' ? 'now, or as it was' : JSON.stringify(fallback);
  return { ...schema, description: `${description} When absent: ${absent}.`.trim() };
}

/** The characters that no text of the rule has, for a class of a pattern. */
function excluded({ controls }: TextRule): string {
  return String.raw`\u0000${controls ? '' : String.raw`-\u001f\u007f-\u009f`}`;
}

/**
 * White space, a text of the rule's length that neither begins nor ends with it, white space. The
 * description alone says that a character is visible: few languages have a pattern for that.
 */
function trimmedPattern(rule: TextRule): string {
  const { minLength, maxLength } = rule;
  const edge = `[^${space}${excluded(rule)}]`;
  const between = `[^${excluded(rule)}]{${Math.max(minLength - 2, 0)},${maxLength - 2}}`;
  const text = `${edge}(?:${between}${edge})${minLength > 1 ? '' : '?'}`;
  return `^[${space}]*${minLength > 0 ? text : `(?:${text})?`}[${space}]*$`;
}
