import {
  type FieldRule,
  type FieldRules,
  postRules,
  type TextRule,
  userRules,
} from '../../../domain/rules.ts';
import type { JsonSchema } from './json-schema.ts';

/** The schemas of bodies and answers, made of the very rules that the domain validates by. */
export const schemas = {
  user: recordSchema('A user.', userRules),
  userInput: inputSchema('A user as a client gives it.', userRules),
  userPatch: patchSchema('What changes of a user (RFC 7396).', userRules),
  users: pageSchema('users', recordSchema('A user.', userRules)),
  post: recordSchema('A post.', postRules),
  postInput: inputSchema('A post as a client gives it.', postRules),
  postPatch: patchSchema('What changes of a post (RFC 7396).', postRules),
  posts: pageSchema('posts', recordSchema('A post.', postRules)),
  deleted: objectSchema('The record is gone.', { deleted: { const: true } }, ['deleted']),
} as const satisfies Record<string, JsonSchema>;

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
  const fields = mapRules(rules, (rule) => ({
    ...givenSchema(rule, rule.fallback !== undefined),
    ...(rule.fallback !== undefined && { default: rule.fallback }),
  }));
  const required = Object.keys(rules).filter((name) => rules[name]?.fallback === undefined);
  return objectSchema(description, fields, required);
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
      [name]: { type: 'array', items: { ...record, required: ['id'] } },
      next: { type: ['string', 'null'], description: 'The cursor of the next page.' },
      total: { type: 'integer', minimum: 0, description: 'With count=exact: how many match.' },
    },
    [name, 'next'],
  );
}

/** Own fields may stand beside the known ones. */
function objectSchema(
  description: string,
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): JsonSchema {
  return { type: 'object', description, properties, required, additionalProperties: true };
}

/** A field as it is stored and answered. */
function storedSchema(rule: FieldRule, nullable: boolean): JsonSchema {
  const type = stringType(nullable);
  switch (rule.type) {
    case 'text':
      return { type, minLength: rule.minLength, maxLength: rule.maxLength };
    case 'email':
      return {
        type,
        format: 'idn-email',
        maxLength: rule.maxBytes, // As near as a schema comes: no character is less than a byte.
        description: `At most ${rule.maxBytes} bytes of UTF-8.`,
      };
    case 'reference':
      return { type, description: `The id of an existing ${rule.to}.` };
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
  const between = `{${Math.max(minLength - 2, 0)},${maxLength - 2}}`;
  const text = String.raw`\S(?:[\s\S]${between}\S)${minLength > 1 ? '' : '?'}`;
  return String.raw`^\s*${minLength > 0 ? text : `(?:${text})?`}\s*$`;
}

function mapRules(
  rules: FieldRules,
  schema: (rule: FieldRule) => JsonSchema,
): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, schema(rule)]));
}
