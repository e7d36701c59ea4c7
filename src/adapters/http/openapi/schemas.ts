import type { JsonObject } from '../../../domain/json.ts';
import { pageLimits } from '../../../domain/list.ts';
import { type FieldRule, postRules, serverMade, userRules } from '../../../domain/rules.ts';
import { eventLimits } from '../../../domain/services/event-service.ts';
import { maxLimitWithAuthors } from '../../../domain/services/post-service.ts';
import type { SchemaName } from '../endpoint.ts';
import type { CustomFieldsDescription } from '../options.ts';
import type { JsonSchema } from '../parameter.ts';
import { rebased, withCustomFields } from './custom-fields.ts';
import {
  countSchema,
  givenSchema,
  jsonSchema,
  reference,
  storedSchema,
  withFallback,
} from './fields.ts';

const id = '0192f0c1-6f5e-7b1c-9d3a-0f1e2d3c4b5a';
const at = '2026-11-21T09:30:00.000Z';
const made = { id, createdAt: at, updatedAt: at };
const ofPost = { authorId: '0192f0c0-1a2b-7c3d-8e4f-5a6b7c8d9e0f', publishedAt: at };

const users = {
  many: 'users',
  rules: userRules,
  sample: { name: 'Ada', email: 'ada@example.com' },
} as const;
const posts = {
  many: 'posts',
  rules: postRules,
  sample: { title: 'On engines', body: 'It weaves patterns.', authorId: null },
} as const;

/** A value of each schema, where nothing is said of custom fields. */
const examples: Readonly<Record<SchemaName, JsonSchema>> = {
  User: { ...made, ...users.sample },
  UserInput: users.sample,
  PublicUser: { id, name: users.sample.name, createdAt: at },
  UserPatch: { name: 'Ada Lovelace' },
  UserPage: { users: [{ ...made, ...users.sample }], next: null },
  Post: { ...made, ...posts.sample, ...ofPost },
  PostInput: posts.sample,
  PostPatch: { title: 'On analytical engines' },
  PostPage: { posts: [{ ...made, ...posts.sample, ...ofPost }], next: null },
  Deleted: { deleted: true },
  EventPage: { events: [{ type: 'post.updated', id, version: 3 }], next: '4711.8211' },
};

/**
 * The content of a body of JSON.
 *
 * @param lesser what a caller gets that may see less
 */
export function mediaType(
  name: SchemaName,
  custom: CustomFieldsDescription,
  lesser?: SchemaName,
): JsonSchema {
  const isCustom =
    (name.startsWith('User') && custom.users !== undefined) ||
    (name.startsWith('Post') && custom.posts !== undefined);
  const schema = lesser ? { anyOf: [reference(name), reference(lesser)] } : reference(name);
  return { schema, ...(!isCustom && { example: examples[name] }) };
}

/** The schemas of all bodies, made of the very rules that the domain validates by. */
export function recordSchemas(custom: CustomFieldsDescription): JsonSchema {
  return {
    ...schemasOf('User', users, custom.users),
    ...schemasOf('Post', posts, custom.posts),
    // Open, and does not say so: with that, generators make no TypeScript of the constant.
    Deleted: {
      type: 'object',
      description: 'The record is gone.',
      properties: { deleted: { const: true } },
      required: ['deleted'],
    },
    EventPage: {
      type: 'object',
      description: 'Changes of records, in the order of the log.',
      properties: {
        events: { type: 'array', maxItems: eventLimits.max, items: event },
        next: { type: 'string', maxLength: 512, description: 'The position to read on from.' },
      },
      required: ['events', 'next'],
      additionalProperties: true,
    },
    Json: jsonSchema(reference('Json')),
  };
}

const event: JsonSchema = {
  type: 'object',
  description: 'A change of one record. A deletion has no version.',
  properties: {
    type: {
      enum: ['user', 'post'].flatMap((one) => [
        `${one}.created`,
        `${one}.updated`,
        `${one}.deleted`,
      ]),
    },
    id: { type: 'string' },
    version: { type: 'integer', format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
  },
  required: ['type', 'id'],
  additionalProperties: true,
};

/** @param given the schema of a deployment's custom fields */
function schemasOf(
  one: 'User' | 'Post',
  { many, rules, sample }: typeof users | typeof posts,
  given: JsonObject | undefined,
): JsonSchema {
  const component = `${one}CustomFields`;
  const custom = given && rebased(given, component);
  const fields = Object.entries<FieldRule>(rules);
  const fieldsBy = (schemaOf: (rule: FieldRule) => JsonSchema) =>
    Object.fromEntries(
      fields.map(([name, rule]) => [name, withExample(schemaOf(rule), sample, name)]),
    );
  const record = withCustomFields(
    {
      description: `A ${one.toLowerCase()}.`,
      properties: { ...madeFields, ...fieldsBy(storedSchema) },
      required: [...serverMade, ...Object.keys(rules)],
    },
    custom,
    component,
  );
  const input = {
    description: `A ${one.toLowerCase()} as a client gives it.`,
    properties: {
      ...ignoredFields,
      ...fieldsBy((rule) => withFallback(rule, givenSchema(rule))),
    },
    required: fields.flatMap(([name, { fallback }]) => (fallback === undefined ? [name] : [])),
  };
  const patch = {
    description: `What changes of a ${one.toLowerCase()} (RFC 7396).`,
    properties: fieldsBy(givenSchema),
  };
  return {
    [one]: record,
    [`${one}Input`]: withCustomFields(input, custom, component),
    [`${one}Patch`]: withCustomFields(patch, custom, component, true),
    // With `fields`, a record has its id and what else was asked for.
    [`Listed${one}`]: { ...record, required: ['id'] },
    ...(one === 'User' && { PublicUser: publicView(record) }),
    [`${one}Page`]: {
      type: 'object',
      description: 'A page of a list.',
      properties: {
        [many]: { type: 'array', maxItems: pageLimits.max, items: reference(`Listed${one}`) },
        ...(one === 'Post' && { users: authors }),
        next: { type: ['string', 'null'], description: 'The cursor of the next page.' },
        total: { ...countSchema, description: 'With count=exact: how many match.' },
      },
      required: [many, 'next'],
      additionalProperties: true,
    },
    ...(custom !== undefined && { [component]: custom }),
  };
}

const authors: JsonSchema = {
  type: 'array',
  description: 'With include=author: each author of these posts once.',
  maxItems: maxLimitWithAuthors,
  items: reference('PublicUser'),
};

/** What a caller sees of a user that may read the public view alone. */
function publicView({ properties, ...record }: JsonSchema): JsonSchema {
  const { updatedAt: _, ...shown } = properties as JsonSchema;
  const description =
    'A user in the public view: email and custom fields as far as this server makes them public.';
  return { ...record, description, properties: shown, required: ['id', 'name', 'createdAt'] };
}

const instant: JsonSchema = {
  type: 'string',
  format: 'date-time',
  readOnly: true,
  examples: [at],
};
const madeFields: JsonSchema = {
  id: { type: 'string', readOnly: true, examples: [id] },
  createdAt: instant,
  updatedAt: instant,
};

const ignored = 'Made by the server, and ignored here.';

/** An input may have what the server makes: what GET gave can be PUT back. */
const ignoredFields: JsonSchema = {
  id: { readOnly: true, description: `${ignored} A PUT takes no other id than that of its path.` },
  createdAt: { readOnly: true, description: ignored },
  updatedAt: { readOnly: true, description: ignored },
};

/** Pages to try the API make a body of these where custom fields leave no example of the whole. */
function withExample(schema: JsonSchema, sample: JsonSchema, name: string): JsonSchema {
  const value = sample[name];
  return value === undefined ? schema : { ...schema, examples: [value] };
}
