import type { DeclaredFields, FieldDeclarations } from '../../../domain/fields/declared-fields.ts';
import { type FieldRule, postRules, serverMade, userRules } from '../../../domain/fields/rules.ts';
import { pageLimits } from '../../../domain/lists/list.ts';
import type { JsonObject } from '../../../domain/records/json.ts';
import { eventLimits } from '../../../domain/services/event-service.ts';
import type { JsonSchema } from '../endpoint.ts';
import type { CustomFieldsDescription } from '../options.ts';
import { customFieldsOf } from './custom-fields.ts';
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

/** Names, rules and examples of a collection. */
const users = {
  many: 'users',
  rules: userRules,
  input: { name: 'Ada', email: 'ada@example.com' },
  patch: { name: 'Ada Lovelace' },
} as const;
const posts = {
  many: 'posts',
  rules: postRules,
  input: { title: 'On engines', body: 'It weaves patterns.', authorId: null, publishedAt: at },
  patch: { title: 'On analytical engines' },
} as const;

/** Returns the schemas of all bodies, derived from the domain's validation rules. */
export function recordSchemas(
  declared: DeclaredFields,
  custom: CustomFieldsDescription,
): JsonSchema {
  return {
    ...schemasOf('User', users, declared.users, custom.users),
    ...schemasOf('Post', posts, declared.posts, custom.posts),
    Deleted: objectSchema('The record was deleted.', {
      deleted: { type: 'boolean', description: 'Always true.' },
    }),
    EventPage: objectSchema('Changes of records, in commit order.', {
      events: { type: 'array', maxItems: eventLimits.max, items: event },
      next: { type: 'string', description: 'The position to continue from.' },
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
  ['type', 'id', 'version'],
);

function schemasOf(
  one: 'User' | 'Post',
  { many, rules, ...samples }: typeof users | typeof posts,
  declared: FieldDeclarations | undefined,
  own: JsonObject | undefined,
): JsonSchema {
  const name = one.toLowerCase();
  const custom = customFieldsOf(`${one}Field_`, declared, own);
  const fields = Object.entries<FieldRule>(rules);
  const fieldsBy = (schemaOf: (rule: FieldRule) => JsonSchema) =>
    Object.fromEntries(fields.map(([name, rule]) => [name, schemaOf(rule)]));
  // Our examples may break a schema of the deployment.
  const withExample = (schema: JsonSchema, example: JsonSchema) =>
    own === undefined ? { ...schema, examples: [example] } : schema;
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
    [one]: withExample(record, { ...made, ...samples.input }),
    [`${one}Input`]: withExample(input, samples.input),
    [`${one}Patch`]: withExample(patch, samples.patch),
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

const instant: JsonSchema = { type: 'string', format: 'date-time', readOnly: true };
const madeFields: JsonSchema = {
  id: { type: 'string', readOnly: true },
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
