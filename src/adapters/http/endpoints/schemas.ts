import { pageLimits } from '../../../domain/list.ts';
import {
  type FieldRule,
  type FieldRules,
  postRules,
  recordLimits,
  type TextRule,
  userRules,
} from '../../../domain/rules.ts';
import type { JsonSchema } from '../parameter.ts';

/** Text that I-JSON and every store can carry; that half a surrogate pair is none, no schema says. */
const clean = String.raw`^[^\u0000]*$`;

/** What JavaScript trims, spelled out: `\s` is something else in other languages. */
const space = String.raw`\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`;

/** How many there are of something. */
export const countSchema: JsonSchema = {
  type: 'integer',
  format: 'int64',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
};

/** The schemas of bodies and responses, made of the very rules that the domain validates by. */
export const schemas = {
  user: recordSchema('A user.', userRules),
  userInput: inputSchema('A user as a client gives it.', userRules),
  userPatch: patchSchema('What changes of a user (RFC 7396).', userRules),
  users: pageSchema('users', recordSchema('A user.', userRules)),
  post: recordSchema('A post.', postRules),
  postInput: inputSchema('A post as a client gives it.', postRules),
  postPatch: patchSchema('What changes of a post (RFC 7396).', postRules),
  posts: pageSchema('posts', recordSchema('A post.', postRules)),
  // Open, and does not say so: with that, generators make no TypeScript of the constant.
  deleted: {
    type: 'object',
    description: 'The record is gone.',
    properties: { deleted: { const: true } },
    required: ['deleted'],
  },
} as const satisfies Record<string, JsonSchema>;

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

function recordSchema(description: string, rules: FieldRules): JsonSchema {
  const fields = mapRules(rules, (rule) => storedSchema(rule, rule.fallback === null));
  const id: JsonSchema = { type: 'string', readOnly: true };
  const properties = { id, createdAt: instantSchema(), updatedAt: instantSchema(), ...fields };
  return objectSchema(description, properties, Object.keys(properties));
}

function instantSchema(): JsonSchema {
  return { type: 'string', format: 'date-time', readOnly: true };
}

function inputSchema(description: string, rules: FieldRules): JsonSchema {
  const fields = mapRules(rules, (rule) =>
    withFallback(rule, givenSchema(rule, rule.fallback !== undefined)),
  );
  const required = Object.keys(rules).filter((name) => rules[name]?.fallback === undefined);
  return objectSchema(description, fields, required);
}

/** In words: generators of types take the keyword `default` to mean that the field is always there. */
function withFallback({ fallback }: FieldRule, schema: JsonSchema): JsonSchema {
  if (fallback === undefined) return schema;
  const { description = '' } = schema;
  return {
    ...schema,
    description: `${description} When absent: ${JSON.stringify(fallback)}.`.trim(),
  };
}

function patchSchema(description: string, rules: FieldRules): JsonSchema {
  const fields = mapRules(rules, (rule) => givenSchema(rule, rule.fallback !== undefined));
  return objectSchema(description, fields, []);
}

function pageSchema(name: string, record: JsonSchema): JsonSchema {
  return objectSchema(
    'A page of a list.',
    {
      // With `fields`, a record has its id and what else was asked for.
      [name]: {
        type: 'array',
        maxItems: pageLimits.max,
        items: { ...record, required: ['id'] },
      },
      next: { type: ['string', 'null'], description: 'The cursor of the next page.' },
      total: { ...countSchema, description: 'With count=exact: how many match.' },
    },
    [name, 'next'],
  );
}

/** Custom fields may stand beside the known ones. */
function objectSchema(
  description: string,
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): JsonSchema {
  return { type: 'object', description, properties, required, additionalProperties: true };
}

/** A field as it is stored and returned. */
function storedSchema(rule: FieldRule, nullable: boolean): JsonSchema {
  const type = stringType(nullable);
  switch (rule.type) {
    case 'text':
      return { type, ...lengths(rule), pattern: clean };
    case 'email':
      return {
        type,
        format: 'idn-email',
        maxLength: rule.maxBytes, // As near as a schema comes: no character is less than a byte.
        description: `At most ${rule.maxBytes} bytes of UTF-8.`,
      };
    case 'reference':
      return { type, pattern: clean, description: `The id of an existing ${rule.to}.` };
  }
}

function stringType(nullable: boolean): 'string' | readonly string[] {
  return nullable ? ['string', 'null'] : 'string';
}

/** A field as a client may send it: where it is trimmed, what is trimmed does not count. */
function givenSchema(rule: FieldRule, nullable: boolean): JsonSchema {
  if (rule.type !== 'text' || !rule.trim) return storedSchema(rule, nullable);
  const description = `${rule.minLength} to ${rule.maxLength} characters after trimming.`;
  return { type: stringType(nullable), pattern: trimmedPattern(rule), description };
}

/** White space, a text of the rule's length that neither begins nor ends with it, white space. */
function trimmedPattern({ minLength, maxLength }: TextRule): string {
  const edge = String.raw`[^${space}\u0000]`;
  const between = String.raw`[^\u0000]{${Math.max(minLength - 2, 0)},${maxLength - 2}}`;
  const text = `${edge}(?:${between}${edge})${minLength > 1 ? '' : '?'}`;
  return `^[${space}]*${minLength > 0 ? text : `(?:${text})?`}[${space}]*$`;
}

/** A length of none is not said: it is any text's. */
function lengths({ minLength, maxLength }: TextRule): JsonSchema {
  return { ...(minLength > 0 && { minLength }), maxLength };
}

function mapRules(
  rules: FieldRules,
  schema: (rule: FieldRule) => JsonSchema,
): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, schema(rule)]));
}
