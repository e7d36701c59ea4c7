import type { DeclaredFields } from '../../../domain/fields/declared-fields.ts';
import { type FieldRule, postRules, serverMade, userRules } from '../../../domain/fields/rules.ts';
import { pageLimits } from '../../../domain/lists/list.ts';
import { eventLimits } from '../../../domain/services/event-service.ts';
import type { JsonSchema, SchemaName } from '../endpoint.ts';
import type { CustomFieldsDescription } from '../options.ts';
import { maxPositionLength } from '../sizes.ts';
import { type CustomFields, customFieldsOf } from './custom-fields.ts';
import {
  countSchema,
  givenSchema,
  objectSchema,
  reference,
  sampleId,
  storedSchema,
  withFallback,
} from './fields.ts';

const at = '2026-11-21T09:30:00.000Z';
const made = { id: sampleId, createdAt: at, updatedAt: at };
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

/** An example of each schema for deployments without a schema of custom fields. */
const examples: Readonly<Record<SchemaName, JsonSchema>> = {
  User: { ...made, ...users.sample },
  UserInput: users.sample,
  PublicUser: { id: sampleId, name: users.sample.name, createdAt: at },
  UserPatch: { name: 'Ada Lovelace' },
  UserPage: { users: [{ ...made, ...users.sample }], next: null },
  Post: { ...made, ...posts.sample, ...ofPost },
  PostInput: posts.sample,
  PostPatch: { title: 'On analytical engines' },
  PostPage: { posts: [{ ...made, ...posts.sample, ...ofPost }], next: null },
  Deleted: { deleted: true },
  EventPage: { events: [{ type: 'post.updated', id: sampleId, version: 3 }], next: '4711.8211' },
};

/** @param publicSchema the schema for callers who see the public view only */
export function mediaType(
  name: SchemaName,
  custom: CustomFieldsDescription,
  publicSchema?: SchemaName,
): JsonSchema {
  const isCustom =
    (name.startsWith('User') && custom.users !== undefined) ||
    (name.startsWith('Post') && custom.posts !== undefined);
  const schema = publicSchema
    ? { anyOf: [reference(name), reference(publicSchema)] }
    : reference(name);
  return { schema, ...(!isCustom && { example: examples[name] }) };
}

/** Returns the schemas of all bodies, derived from the domain's validation rules. */
export function recordSchemas(
  declared: DeclaredFields,
  custom: CustomFieldsDescription,
): JsonSchema {
  return {
    ...schemasOf('User', users, customFieldsOf('UserField_', declared.users, custom.users)),
    ...schemasOf('Post', posts, customFieldsOf('PostField_', declared.posts, custom.posts)),
    Deleted: objectSchema('The record was deleted.', {
      deleted: { type: 'boolean', description: 'Always true.' },
    }),
    EventPage: objectSchema('Changes of records, in commit order.', {
      events: { type: 'array', maxItems: eventLimits.max, items: event },
      next: {
        type: 'string',
        maxLength: maxPositionLength,
        description: 'The position to continue from.',
      },
    }),
  };
}

const event: JsonSchema = objectSchema(
  'A change of one record.',
  {
    type: {
      type: 'string',
      description: '"user." or "post.", followed by "created", "updated" or "deleted".',
    },
    id: { type: 'string' },
    version: { type: 'integer', format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
  },
  ['type', 'id'],
);

function schemasOf(
  one: 'User' | 'Post',
  { many, rules, sample }: typeof users | typeof posts,
  custom: CustomFields,
): JsonSchema {
  const name = one.toLowerCase();
  const fields = Object.entries<FieldRule>(rules);
  const fieldsBy = (schemaOf: (rule: FieldRule) => JsonSchema) =>
    Object.fromEntries(
      fields.map(([name, rule]) => [name, withExample(schemaOf(rule), sample, name)]),
    );
  const record = objectSchema(
    `A ${name}.`,
    { ...madeFields, ...fieldsBy(storedSchema), ...custom.properties },
    [...serverMade, ...Object.keys(rules), ...custom.required],
    custom.isOpen,
  );
  const given = fieldsBy((rule) => withFallback(rule, givenSchema(rule)));
  const needed = fields.flatMap(([name, { fallback }]) => (fallback === undefined ? [name] : []));
  const input = objectSchema(
    `A ${name} as a client sends it.`,
    { ...(!custom.isOpen && ignoredFields), ...given, ...custom.properties },
    [...needed, ...custom.required],
    custom.isOpen,
  );
  const patch = objectSchema(
    `A JSON merge patch of a ${name} (RFC 7396).`,
    { ...fieldsBy(givenSchema), ...custom.changes },
    [],
    custom.isOpen,
  );
  const page = objectSchema(
    'A page of a list.',
    {
      [many]: { type: 'array', maxItems: pageLimits.records, items: reference(`Listed${one}`) },
      ...(one === 'Post' && { users: authors }),
      next: {
        type: ['string', 'null'],
        description: 'The cursor of the next page, or null on the last one.',
      },
      total: { ...countSchema, description: 'With count=exact: the number of records that match.' },
    },
    [many, 'next'],
  );
  return {
    [one]: record,
    [`${one}Input`]: input,
    [`${one}Patch`]: patch,
    // With `fields`, a record has its id and the fields that were asked for.
    [`Listed${one}`]: { ...record, required: ['id'] },
    ...(one === 'User' && { PublicUser: publicView(record) }),
    [`${one}Page`]: page,
    ...custom.components,
  };
}

const authors: JsonSchema = {
  type: 'array',
  description: 'With include=author: each author of these posts once.',
  maxItems: pageLimits.records,
  items: reference('PublicUser'),
};

/** A user as seen by callers who can read only the public view. */
function publicView({ properties, ...record }: JsonSchema): JsonSchema {
  const { updatedAt: _, ...shown } = properties as JsonSchema;
  const description =
    'The public view of a user. It has the email address and custom fields if this server makes them public.';
  return { ...record, description, properties: shown, required: ['id', 'name', 'createdAt'] };
}

const instant: JsonSchema = {
  type: 'string',
  format: 'date-time',
  readOnly: true,
  examples: [at],
};
const madeFields: JsonSchema = {
  id: { type: 'string', readOnly: true, examples: [sampleId] },
  createdAt: instant,
  updatedAt: instant,
};

const ignored = 'Set by the server, and ignored here.';

/**
 * Fields that the server sets. They are accepted, so that the response to GET can be PUT back. An open schema allows
 * them anyway.
 */
const ignoredFields: JsonSchema = {
  id: {
    type: 'string',
    readOnly: true,
    description: `${ignored} In a PUT it must be the id of the path.`,
  },
  createdAt: { type: 'string', readOnly: true, description: ignored },
  updatedAt: { type: 'string', readOnly: true, description: ignored },
};

function withExample(schema: JsonSchema, sample: JsonSchema, name: string): JsonSchema {
  const value = sample[name];
  return value === undefined ? schema : { ...schema, examples: [value] };
}
