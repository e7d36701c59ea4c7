import type { JsonObject } from '../../../domain/json.ts';
import { serverMade } from '../../../domain/rules.ts';
import { jsonSchema, keySchema, schemas } from '../endpoints/schemas.ts';
import type { CustomFieldsDescription } from '../options.ts';
import type { JsonSchema } from '../parameter.ts';

/** The names of the components that bodies are described by. */
const names = {
  user: 'User',
  userInput: 'UserInput',
  userPatch: 'UserPatch',
  users: 'UserPage',
  post: 'Post',
  postInput: 'PostInput',
  postPatch: 'PostPatch',
  posts: 'PostPage',
  deleted: 'Deleted',
} as const satisfies Record<keyof typeof schemas, string>;

type Name = (typeof names)[keyof typeof names];

const nameOf = new Map<JsonSchema, Name>(
  Object.entries(names).map(([key, name]) => [schemas[key as keyof typeof schemas], name]),
);

const id = '0192f0c1-6f5e-7b1c-9d3a-0f1e2d3c4b5a';
const author = '0192f0c0-1a2b-7c3d-8e4f-5a6b7c8d9e0f';
const createdAt = '2026-11-21T09:30:00.000Z';
const made = { id, createdAt, updatedAt: createdAt };
const user = { ...made, name: 'Ada', email: 'ada@example.com' };
const post = { ...made, title: 'On engines', body: 'It weaves patterns.', authorId: author };

/** A value of each component, where nothing is said of custom fields. */
const examples: Readonly<Record<Name, JsonSchema>> = {
  User: user,
  UserInput: { name: 'Ada', email: 'ada@example.com' },
  UserPatch: { name: 'Ada Lovelace' },
  UserPage: { users: [user], next: null },
  Post: post,
  PostInput: { title: 'On engines', body: 'It weaves patterns.' },
  PostPatch: { title: 'On analytical engines' },
  PostPage: { posts: [post], next: null },
  Deleted: { deleted: true },
};

/** Content of a body of one of the endpoints' schemas. */
export function mediaType(schema: JsonSchema, own: CustomFieldsDescription): JsonSchema {
  const name = nameOf.get(schema);
  if (name === undefined) return { schema };
  const list = name.startsWith('User') ? own.users : own.posts;
  const hasExample = list === undefined || name === 'Deleted';
  return {
    schema: reference(name),
    ...(hasExample && { example: examples[name] }),
  };
}

/** Every schema of records, with a deployment's custom fields in it. */
export function recordSchemas({ users, posts }: CustomFieldsDescription): JsonSchema {
  return {
    ...schemasOf('User', users, [
      ...([schemas.user, schemas.userInput, schemas.userPatch] as const),
      schemas.users,
    ]),
    ...schemasOf('Post', posts, [
      ...([schemas.post, schemas.postInput, schemas.postPatch] as const),
      schemas.posts,
    ]),
    [names.deleted]: schemas.deleted,
    Json: jsonSchema(reference('Json')),
  };
}

type Four = readonly [record: JsonSchema, input: JsonSchema, patch: JsonSchema, page: JsonSchema];

function schemasOf(
  one: 'User' | 'Post',
  given: JsonObject | undefined,
  [record, input, patch, page]: Four,
): JsonSchema {
  const component = `${one}CustomFields`;
  const own = given && rebased(given, component);
  const sample = one === 'User' ? user : post;
  const whole = withCustomFields(withExamples(record, sample), own, component);
  const properties = page.properties as JsonSchema;
  const list = one === 'User' ? 'users' : 'posts';
  const items = properties[list] as JsonSchema;
  return {
    [one]: whole,
    [`${one}Input`]: withCustomFields(asGiven(withExamples(input, sample)), own, component),
    [`${one}Patch`]: withCustomFields(withExamples(patch, sample), own, component, changeOf),
    // With `fields`, a record has its id and what else was asked for.
    [`Listed${one}`]: { ...whole, required: ['id'] },
    [`${one}Page`]: {
      ...page,
      properties: { ...properties, [list]: { ...items, items: reference(`Listed${one}`) } },
    },
    ...(own !== undefined && { [component]: own }),
  };
}

/** Pages to try the API make a body of these where custom fields leave no example of the whole. */
function withExamples(record: JsonSchema, { authorId: _, ...sample }: JsonSchema): JsonSchema {
  const fields = Object.entries(schemaAt(record)).map(([name, schema]) => [
    name,
    name in sample ? { ...(schema as JsonSchema), examples: [sample[name]] } : schema,
  ]);
  return { ...record, properties: Object.fromEntries(fields) };
}

/** An input may have what the server makes: what GET gave can be PUT back. */
function asGiven(input: JsonSchema): JsonSchema {
  const ignored = serverMade.map((name) => {
    const others = name === 'id' ? ' A PUT takes no other id than that of its path.' : '';
    return [name, { description: `Made by the server, and ignored here.${others}` }] as const;
  });
  return { ...input, properties: { ...Object.fromEntries(ignored), ...schemaAt(input) } };
}

/**
 * A record's schema with the custom fields that the deployment's schema names. Its other keywords are
 * of the custom fields alone, so that only `additionalProperties: false` holds for the whole record.
 */
function withCustomFields(
  record: JsonSchema,
  own: JsonSchema = {},
  component = '',
  describe: Describe = wholeOf,
): JsonSchema {
  const needed = describe === wholeOf ? (own.required ?? []) : [];
  return {
    ...record,
    properties: {
      ...schemaAt(record),
      ...membersOf(own, describe, (name) => {
        const pointer = encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
        return reference(`${component}/properties/${pointer}`);
      }),
    },
    required: [...(record.required as string[]), ...(needed as readonly string[])],
    ...restOf(own),
  };
}

/** Describes a field by its schema, and by that or a reference to it. */
type Describe = (field: JsonSchema, schema: JsonSchema, isNeeded: boolean) => JsonSchema;

function membersOf(
  own: JsonSchema,
  describe: Describe,
  refer: (name: string, schema: JsonSchema) => JsonSchema,
): JsonSchema {
  const needed = new Set((own.required ?? []) as readonly string[]);
  const members = Object.entries(schemaAt(own)).map(([name, value]) => {
    const schema = value as JsonSchema;
    return [name, describe(refer(name, schema), schema, needed.has(name))] as const;
  });
  return Object.fromEntries(members);
}

/** What the members of an object may be that its schema does not name. */
function restOf({ additionalProperties, patternProperties }: JsonSchema): JsonSchema {
  const isClosed = additionalProperties === false && patternProperties === undefined;
  return {
    propertyNames: keySchema,
    additionalProperties: isClosed ? false : reference('Json'),
  };
}

function wholeOf(field: JsonSchema): JsonSchema {
  return field;
}

/** An object is merged into what is there; all else takes the place of it, and null removes. */
function changeOf(field: JsonSchema, schema: JsonSchema, isNeeded: boolean): JsonSchema {
  const { type } = schema;
  if (type === 'object') {
    // No reference: types of TypeScript cannot refer to members of what may be absent.
    const properties = membersOf(schema, changeOf, (_, member) => member);
    return { type: isNeeded ? type : [type, 'null'], properties, ...restOf(schema) };
  }
  if (type === undefined || [type].flat().includes('object')) return reference('Json');
  return isNeeded ? field : { anyOf: [field, { type: 'null' }] };
}

function schemaAt({ properties }: JsonSchema): JsonSchema {
  return (properties ?? {}) as JsonSchema;
}

/** A schema as a component: what it refers to in itself lies elsewhere now. */
function rebased(schema: JsonObject, component: string): JsonSchema {
  const { $schema: _, $id: __, ...rest } = schema;
  const text = JSON.stringify(rest, (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' && /^#(\/|$)/.test(value)
      ? `#/components/schemas/${component}${value.slice(1)}`
      : value,
  );
  return JSON.parse(text) as JsonSchema;
}

function reference(component: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${component}` };
}
