import * as z from 'zod';
import { type DeclaredFields, fieldsIn } from '../../domain/declared-fields.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Collection } from '../../domain/record.ts';
import { utf8Bytes } from '../../domain/text.ts';

/** JSON Schemas (2020-12) of custom fields. */
export type Schemas = { readonly [C in Collection]?: JsonObject | undefined };

/** Arguments for custom fields: the compiler does not know their names. */
type Custom = Record<never, z.ZodType>;

/** Bytes of a JSON Schema in a list of tools. Of a larger one, it has the names of some fields. */
const [maxSchema, maxNames] = [11_000, 40];

/** A reference that would lead elsewhere in the schema of a tool. */
const brokenReference = /"\$ref":"#("|\/(?!\$defs\/|definitions\/))/;

/** What a list can be filtered by, for each type that can be declared. */
const filters = {
  ...{ text: range(z.string()), number: range(z.number()), boolean: z.boolean() },
  'text[]': z.string().or(z.array(z.string())),
};

function range<T extends z.ZodType>(end: T) {
  return end.or(z.strictObject({ from: end.optional(), before: end.optional() }));
}

const idOrMe = z.string().describe('An id, or "me" for your own user');
const state = z.enum(['public', 'draft', 'scheduled']).describe('Your own: add author "me"');
const at = { id: z.string(), version: z.int().min(1).describe('The version you read') };
const page = {
  limit: z.int().min(1).max(20).default(20),
  cursor: z.string().optional().describe('"next" of the page before'),
};
const patch = (fields: Custom, names: string) =>
  z.looseObject(fields).partial().describe(`JSON merge patch of ${names}; null removes`);

/**
 * Returns the arguments of each tool; undefined for a tool that is off. Custom fields are only described: the
 * core judges them.
 */
export function inputsFor(declared: DeclaredFields, schemas: Schemas = {}, deletes = false) {
  const ofPosts = customFields(declared, schemas, 'posts');
  const ofUsers = customFields(declared, schemas, 'users');
  return {
    find_posts: z.strictObject({
      ...ofPosts.filters,
      author: idOrMe.optional(),
      title_starts_with: z.string().optional(),
      state: state.optional(),
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
      .meta(ofPosts.definitions),
    update_post: z.strictObject({
      ...at,
      changes: patch({}, 'title, body, authorId, publishedAt, custom fields'),
    }),
    delete_post: deletes ? z.strictObject(at) : undefined,
    find_users: z.strictObject({ name: z.string().optional(), ...page }),
    get_user: z.strictObject({ id: idOrMe }),
    update_user: z
      .strictObject({
        ...at,
        id: idOrMe,
        changes: patch(ofUsers.fields, 'name, email, custom fields'),
      })
      .meta(ofUsers.definitions),
  };
}

function customFields(declared: DeclaredFields, schemas: Schemas, collection: Collection) {
  const { properties, required = [], $defs, definitions } = schemas[collection] ?? {};
  const own = fieldsIn(declared[collection]);
  const known = Object.fromEntries(own.map(({ name, type }) => [name, { description: type }]));
  const all: Record<string, object> = { ...known, ...(properties as object) };
  const text = JSON.stringify([all, $defs, definitions]);
  const isShown = utf8Bytes(text) <= maxSchema && !brokenReference.test(text);
  const names = Object.keys(all).slice(0, isShown ? undefined : maxNames);
  const fields = names.map((name) => {
    const field = z.unknown().meta(isShown ? { ...all[name] } : {});
    return [name, (required as readonly string[]).includes(name) ? field : field.optional()];
  });
  return {
    filters: Object.fromEntries(
      own.map(({ name, type }) => [name, filters[type].optional()]),
    ) as Custom,
    fields: Object.fromEntries(fields) as Custom,
    definitions: isShown ? { $defs, definitions } : {},
  };
}
