import * as z from 'zod';
import { type CustomFilters, declaredFields } from '../../domain/declared-fields.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Collection } from '../../domain/record.ts';
import { utf8Bytes } from '../../domain/text.ts';

/** JSON Schemas (2020-12) of custom fields. */
export type Schemas = { readonly [C in Collection]?: JsonObject | undefined };

/** Bytes of a JSON Schema in a list of tools. */
const maxSchema = 11_000;
/** Names of fields in a list of tools, where their schema is too large. */
const maxNames = 100;

/** A reference that would lead elsewhere in the schema of a tool. */
const brokenReference = /"\$ref":"#("|\/(?!\$defs\/|definitions\/))/;

const range = <T extends z.ZodType>(end: T) =>
  z.union([end, z.strictObject({ from: end.optional(), before: end.optional() })]);

/** What lists can be filtered by, and what a field is, for each type that can be declared. */
const types = {
  text: { filter: range(z.string()), schema: { type: 'string' } },
  number: { filter: range(z.number()), schema: { type: 'number' } },
  boolean: { filter: z.boolean(), schema: { type: 'boolean' } },
  'text[]': {
    filter: z.string().or(z.array(z.string())),
    schema: { type: 'array', items: { type: 'string' } },
  },
};

const idOrMe = z.string().describe('An id, or "me" for your own user');
const change = { id: z.string(), version: z.int().min(1).describe('The version you read') };
const patch = 'JSON merge patch (null removes a field) of';
const page = {
  limit: z.int().min(1).max(20).default(20),
  cursor: z.string().optional().describe('"next" of the page before'),
};

/** Returns the arguments of each tool. Custom fields are described, and left to the core to judge. */
export function inputsFor(declared: CustomFilters, schemas: Schemas = {}) {
  const [ofPosts, ofUsers] = [
    custom(declared, schemas, 'posts'),
    custom(declared, schemas, 'users'),
  ];
  return {
    find_posts: z.strictObject({
      ...ofPosts.filters,
      author: idOrMe.optional(),
      title_starts_with: z.string().optional(),
      state: z
        .enum(['public', 'draft', 'scheduled'])
        .optional()
        .describe('Your own: add author "me"'),
      ...page,
    }),
    get_post: z.strictObject({ id: z.string(), from: z.int().min(0).optional() }),
    create_post: z
      .looseObject({
        ...ofPosts.fields,
        title: z.string(),
        body: z.string().optional(),
        key: z.string().min(1).max(255).describe('New for every post'),
        publish: z.boolean().default(false),
      })
      .meta({ ...ofPosts.definitions, required: ['title', 'key', ...ofPosts.required] }),
    update_post: z.strictObject({
      ...change,
      changes: z
        .looseObject({})
        .describe(`${patch} title, body, authorId, publishedAt, custom fields`),
    }),
    delete_post: z.strictObject(change),
    find_users: z.strictObject({ name: z.string().optional(), ...page }),
    get_user: z.strictObject({ id: idOrMe }),
    update_user: z
      .strictObject({
        ...{ ...change, id: idOrMe },
        changes: z.looseObject(ofUsers.fields).describe(`${patch} name, email, custom fields`),
      })
      .meta(ofUsers.definitions),
  };
}

function custom(declared: CustomFilters, schemas: Schemas, collection: Collection) {
  const { properties, required = [], $defs, definitions } = schemas[collection] ?? {};
  const own = declaredFields(declared[collection]);
  const filters = own.map(({ name, type }) => [name, types[type].filter.optional()]);
  const known = own.map(({ name, type }) => [name, types[type].schema]);
  const all: Record<string, object> = { ...Object.fromEntries(known), ...(properties as object) };
  const text = JSON.stringify([all, $defs, definitions]);
  const isShown = utf8Bytes(text) <= maxSchema && !brokenReference.test(text);
  const names = Object.keys(all).slice(0, isShown ? undefined : maxNames);
  const fields = names.map((name) => [
    name,
    z
      .unknown()
      .meta(isShown ? { ...all[name] } : {})
      .optional(),
  ]);
  return {
    filters: Object.fromEntries(filters) as object,
    fields: Object.fromEntries(fields) as object,
    definitions: isShown ? { $defs, definitions } : {},
    required: required as readonly string[],
  };
}
