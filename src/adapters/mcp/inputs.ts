import * as z from 'zod';
import { type DeclaredFields, fieldsIn } from '../../domain/fields/declared-fields.ts';
import {
  changeSchemas,
  customFieldSchemas,
  type FieldSchemas,
} from '../../domain/fields/field-schemas.ts';
import { type FieldRule, rules } from '../../domain/fields/rules.ts';
import type { JsonObject } from '../../domain/records/json.ts';
import type { Collection } from '../../domain/records/record.ts';
import { utf8Bytes } from '../../domain/records/text.ts';

/** JSON Schemas (2020-12) of custom fields. */
export type Schemas = { readonly [C in Collection]?: JsonObject | undefined };

/** Arguments for fields: the compiler does not know their names. */
type Fields = Record<never, z.ZodType>;

// Limits of the custom fields of a tool. A list of tools stays below 30 kB, because clients refuse larger ones.
/** Bytes of the schemas of all fields. If those are larger, the tool lists names only. */
const maxSchemas = 7500;
/** Fields that are listed by name. */
const maxNames = 40;
/** Names in the description, of fields that clients would refuse as arguments. */
const maxUnlisted = 10;

/** True for the name of an argument that clients accept. Zod would read an inherited one, such as `toString`. */
const isArgumentName = (name: string) => /^[a-zA-Z0-9_.-]{1,64}$/.test(name) && !(name in {});

/** A reference that would lead elsewhere in the schema of a tool. */
const brokenReference = /"\$ref":"#("|\/(?!\$defs\/|definitions\/))/;

/** What a list can be filtered by, for each type that can be declared. */
const filters = {
  text: range(z.string(), { startsWith: z.string().optional() }),
  number: range(z.number()),
  boolean: z.boolean(),
  'text[]': z.string().or(z.array(z.string())),
};

function range<T extends z.ZodType>(end: T, more: Record<string, z.ZodType> = {}) {
  return end.or(z.strictObject({ from: end.optional(), before: end.optional(), ...more }));
}

const idOrMe = z.string().describe('An id, or "me" for your own user');
const state = z.enum(['public', 'draft', 'scheduled']).describe('Your own: add author "me"');
const at = { id: z.string(), version: z.int().min(1).describe('The version you read') };
const page = {
  limit: z.int().min(1).max(20).default(20),
  cursor: z.string().optional().describe('"next" of the page before'),
};
const ofNewPost = {
  title: z.string(),
  body: z.string().optional(),
  key: z.string().min(1).max(255).describe('New for every post'),
  publish: z.boolean().default(false),
};

/**
 * Returns the arguments of each tool; undefined for a tool that is off. Fields of records are only described: the
 * core judges them.
 */
export function inputsFor(declared: DeclaredFields, schemas: Schemas = {}, deletes = false) {
  const ofPosts = customFields(declared, schemas, 'posts');
  const ofUsers = customFields(declared, schemas, 'users');
  /** A field that every post must have, but no client could pass. */
  const missing = ofPosts.required.find(
    (name) => !isArgumentName(name) || Object.hasOwn(ofNewPost, name),
  );
  // An argument without a schema is an error, unless a field could not be listed.
  const objectOf = ofPosts.hasHiddenFields ? z.looseObject : z.strictObject;
  const newPost = objectOf({ ...ofPosts.fields, ...ofPosts.known, ...ofNewPost });
  const tools = {
    find_posts: z.strictObject({
      ...ofPosts.filters,
      author: idOrMe.optional(),
      title_starts_with: z.string().optional(),
      state: state.optional(),
      ...page,
    }),
    get_post: z.strictObject({ id: z.string(), from: z.int().min(0).optional() }),
    create_post: missing === undefined ? newPost.meta(ofPosts.definitions) : undefined,
    update_post: z.strictObject({ ...at, changes: ofPosts.changes }).meta(ofPosts.definitions),
    delete_post: deletes ? z.strictObject(at) : undefined,
    find_users: z.strictObject({ name: z.string().optional(), ...page }),
    get_user: z.strictObject({ id: idOrMe }),
    update_user: z
      .strictObject({ ...at, id: idOrMe, changes: ofUsers.changes })
      .meta(ofUsers.definitions),
  };
  /** What the descriptions of tools say in addition. */
  const notes: { readonly [Tool in keyof typeof tools]?: string } = {
    create_post: ofPosts.note,
    update_post: ofPosts.note,
    update_user: ofUsers.note,
  };
  return { tools, notes, missing };
}

function customFields(declared: DeclaredFields, schemas: Schemas, collection: Collection) {
  const { [collection]: own = {} } = schemas;
  const { $defs, definitions } = own;
  const required = (own.required ?? []) as readonly string[];
  const typed = customFieldSchemas(declared[collection]);
  const all = customFieldSchemas(declared[collection], own);
  // The declared ones first.
  const names = Object.keys({ ...typed, ...all }).filter((name) => Object.hasOwn(all, name));
  const unlisted = names.filter((name) => !isArgumentName(name)).map((name) => ` "${name}"`);
  const listed = names.filter(isArgumentName);
  const fields = select(listed, all);
  const changes = changeSchemas(fields, required);
  const isShown = [fields, changes].every((one) => canBeShown([one, $defs, definitions]));
  const short = select(listed.slice(0, maxNames), typed);
  const known = shapeOf(
    Object.fromEntries(
      Object.entries<FieldRule>(rules[collection]).map(([name, { fallback }]) => {
        return [name, { type: fallback === undefined ? 'string' : ['string', 'null'] }] as const;
      }),
    ),
  );
  const shown = isShown ? fields : short;
  const filtered = fieldsIn(declared[collection]).filter(({ name }) => isArgumentName(name));
  return {
    required,
    known,
    fields: shapeOf(shown, required),
    hasHiddenFields: names.some((name) => !Object.hasOwn(shown, name)),
    changes: z
      .looseObject({ ...known, ...shapeOf(isShown ? changes : short) })
      .describe('JSON merge patch, also of other custom fields; null removes'),
    filters: Object.fromEntries(
      filtered.map(({ name, type }) => [name, filters[type].optional()]),
    ) as Fields,
    definitions: isShown ? { $defs, definitions } : {},
    note: unlisted.length === 0 ? '' : ` Also takes${unlisted.slice(0, maxUnlisted)}.`,
  };
}

function select(names: readonly string[], schemas: FieldSchemas): FieldSchemas {
  return Object.fromEntries(names.map((name) => [name, schemas[name] ?? {}]));
}

/** True if the schemas are small enough, every `$ref` resolves, and clients accept every name. */
function canBeShown(schemas: readonly unknown[]): boolean {
  let hasRefused = false;
  const text = JSON.stringify(schemas, (key, value: unknown) => {
    hasRefused ||= key === 'properties' && !Object.keys(Object(value)).every(isArgumentName);
    return value;
  });
  return !hasRefused && utf8Bytes(text) <= maxSchemas && !brokenReference.test(text);
}

/** Describes values without checking them. */
function shapeOf(schemas: FieldSchemas, required: readonly string[] = []): Fields {
  const fields = Object.entries(schemas).map(([name, schema]) => {
    const field = z.unknown().meta({ ...(schema as JsonObject) });
    return [name, required.includes(name) ? field : field.optional()];
  });
  return Object.fromEntries(fields);
}
