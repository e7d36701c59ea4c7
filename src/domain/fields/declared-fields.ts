import { RostrumError } from '../errors.ts';
import { checkOptions } from '../options.ts';
import { isFieldName } from '../records/i-json.ts';
import { isPlainObject, type JsonObject, setMember } from '../records/json.ts';
import type { Collection, Id } from '../records/record.ts';
import { checkDeclaredValue } from './fields.ts';
import { Issues } from './issues.ts';
import { declaredRules, knownFields, type rules, type serverMade } from './rules.ts';

export type DeclaredType = keyof typeof declaredRules;

/** The type of a declared field, and whether its values are unique; by default they are not. */
export type FieldDeclaration =
  | DeclaredType
  | { readonly type: DeclaredType; readonly unique?: false | undefined }
  | { readonly type: SortableType; readonly unique?: boolean | undefined };

/**
 * The declared fields of users, or of posts, by name. A declared field is null, absent or a value of its type,
 * and lists can be filtered by it.
 */
export type FieldDeclarations = Readonly<Record<string, FieldDeclaration>>;

/** Declared fields; none if absent. */
export interface DeclaredFields {
  readonly users?: (FieldDeclarations & Without<KnownField<'users'>>) | undefined;
  readonly posts?: (FieldDeclarations & Without<KnownField<'posts'>>) | undefined;
}

type KnownField<Name extends Collection> = (typeof serverMade)[number] | keyof (typeof rules)[Name];

type Without<Name extends string> = { readonly [K in Name | ReservedName]?: never };

export type NoDeclaredFields = Readonly<Record<never, never>>;

/** Limit of declared fields of users, or of posts: each costs indexes, and MongoDB has at most 64 of these. */
const maxDeclaredFields = 16;

/** Names with another meaning where a declared field would stand. */
const reservedNames = [
  // Query parameters of the HTTP API, and the parameters of a search by words.
  ...([
    'limit',
    'cursor',
    'sort',
    'count',
    'fields',
    'include',
    'access_token',
    'q',
    'words',
  ] as const),
  // Filters of the library.
  ...(['ids', 'nameStartsWith', 'emailStartsWith', 'titleStartsWith'] as const),
  // Arguments of MCP tools.
  ...(['key', 'publish', 'state', 'author', 'title_starts_with'] as const),
  // A mark of objects in MongoDB's drivers.
  '_bsontype' as const,
];
type ReservedName = (typeof reservedNames)[number];

/** Names that every store can index: some databases accept no dot or `$`. */
const namePattern = /^[\p{L}_][\p{L}\p{M}\p{N}_-]{0,63}$/u;

export function isDeclarable(collection: Collection, name: string): boolean {
  const isTaken =
    knownFields[collection].includes(name) || (reservedNames as readonly string[]).includes(name);
  return !isTaken && namePattern.test(name) && isFieldName(name);
}

/** A declared field. */
export interface DeclaredField {
  readonly name: string;
  readonly type: DeclaredType;
  readonly isUnique: boolean;
}

/** Returns the declarations as a list, each in its long form. */
export function fieldsIn(fields: FieldDeclarations = {}): readonly DeclaredField[] {
  return Object.entries(fields).map(([name, declared]) =>
    typeof declared === 'string'
      ? { name, type: declared, isUnique: false }
      : { name, type: declared.type, isUnique: declared.unique === true },
  );
}

/** Returns how a field is declared; undefined if it isn't. */
export function declaredField(
  fields: FieldDeclarations | undefined,
  name: string,
): DeclaredField | undefined {
  if (fields === undefined || !Object.hasOwn(fields, name)) return undefined;
  return fieldsIn({ [name]: fields[name] as FieldDeclaration })[0];
}

/** The types that lists can be sorted by, and whose values may be unique. */
export type SortableType = 'text' | 'number';

export function isSortable({ type }: Pick<DeclaredField, 'type'>): boolean {
  return type === 'text' || type === 'number';
}

/**
 * Checks declarations.
 *
 * @throws TypeError for a name that cannot be declared, or an unknown type
 * @throws RangeError for more than {@link maxDeclaredFields} of one collection
 */
export function checkDeclaredFields(declaredFields: DeclaredFields): void {
  checkOptions(declaredFields, ['users', 'posts'], 'declaredFields');
  for (const collection of ['users', 'posts'] as const) {
    const fields: unknown = declaredFields[collection] ?? {};
    if (!isPlainObject(fields)) {
      throw new TypeError(`The declaredFields of ${collection} must be an object.`);
    }
    for (const [name, declared] of Object.entries(fields)) {
      if (!isDeclarable(collection, name)) {
        throw new TypeError(
          `"${name}" cannot be declared as a field of ${collection}: use letters, digits, _ and -, and no name that Rostrum uses itself.`,
        );
      }
      checkDeclaration(name, declared);
    }
    if (Object.keys(fields).length > maxDeclaredFields) {
      throw new RangeError(`At most ${maxDeclaredFields} fields of ${collection} can be declared.`);
    }
  }
}

function checkDeclaration(name: string, declared: unknown): void {
  const { type, unique = false } = isPlainObject(declared)
    ? checkOptions<{ type?: unknown; unique?: unknown }>(declared, ['type', 'unique'], `"${name}"`)
    : { type: declared };
  const types = Object.keys(declaredRules) as DeclaredType[];
  const known = types.find((one) => one === type);
  if (known === undefined) {
    throw new TypeError(`The type of "${name}" must be one of ${types.join(', ')}.`);
  }
  if (typeof unique !== 'boolean') {
    throw new TypeError(`The option "unique" of "${name}" must be true or false.`);
  }
  if (unique && !isSortable({ type: known })) {
    throw new TypeError(`"${name}" cannot be unique: only a text or a number can.`);
  }
}

/** A declared field of users or of posts. */
export interface CollectionField extends DeclaredField {
  readonly collection: Collection;
}

export function listFields(declared: DeclaredFields): readonly CollectionField[] {
  return (['users', 'posts'] as const).flatMap((collection) =>
    fieldsIn(declared[collection]).map((field) => ({ ...field, collection })),
  );
}

export function declarationsOf(fields: readonly CollectionField[]): Required<DeclaredFields> {
  const declared = { users: {}, posts: {} } as Record<Collection, Record<string, FieldDeclaration>>;
  for (const { collection, name, type, isUnique } of fields) {
    const declaration = isUnique ? { type, unique: true } : type;
    setMember(declared[collection], name, declaration as FieldDeclaration);
  }
  return declared;
}

/** Formats a declaration, such as `posts.slug:text:unique`. */
export function formatField({ collection, name, type, isUnique }: CollectionField): string {
  return `${collection}.${name}:${type}${isUnique ? ':unique' : ''}`;
}

/** Thrown if a database cannot declare a field. The message says what to do. */
export class DeclarationError extends Error {
  override readonly name = 'DeclarationError';
  readonly code = 'store-breaks-declaration';
}

/**
 * Adds declarations to those of a database.
 *
 * @returns all of them, and those that the database lacks
 * @throws DeclarationError if the database declares a field otherwise, or if they are too many
 */
export function addDeclarations(
  stored: readonly CollectionField[],
  added: DeclaredFields,
): { readonly all: Required<DeclaredFields>; readonly missing: readonly CollectionField[] } {
  const missing = listFields(added).filter((field) => {
    const present = stored.find(
      ({ collection, name }) => collection === field.collection && name === field.name,
    );
    if (present === undefined) return true;
    const [kept, wanted] = [formatField(present), formatField(field)];
    if (kept === wanted) return false;
    throw new DeclarationError(
      `The database declares ${kept}, not ${wanted}. Use its declaration, or change it with rostrum field set.`,
    );
  });
  const all = declarationsOf([...stored, ...missing]);
  try {
    if (missing.length > 0) checkDeclaredFields(all);
  } catch (error) {
    throw new DeclarationError(`${(error as Error).message} rostrum field list shows them.`);
  }
  return { all, missing };
}

/** Checks the declared fields of a record: each is null, absent or a value of its type. */
export function checkDeclaredValues(
  fields: readonly DeclaredField[],
  record: JsonObject,
  issues: Issues,
): void {
  for (const { name, type } of fields) {
    const value = Object.hasOwn(record, name) ? record[name] : null;
    if (value === undefined || value === null) continue;
    checkDeclaredValue(declaredRules[type], value, [name], issues);
  }
}

/**
 * Checks a record against the declared fields of a database: the core may not know all of them.
 *
 * @throws RostrumError `invalid-record` for a value of another type than declared
 */
export function checkRecord(fields: readonly DeclaredField[], record: object): void {
  const issues = new Issues();
  checkDeclaredValues(fields, record as JsonObject, issues);
  if (issues.list.length > 0) throw new RostrumError('invalid-record', { issues: issues.list });
}

/** How many records a {@link DeclarationError} names. */
const maxNamed = 5;

export class StoredRecordsCheck {
  readonly #broken: readonly { readonly field: CollectionField; readonly ids: Id[] }[];

  constructor(fields: readonly CollectionField[]) {
    this.#broken = fields.map((field) => ({ field, ids: [] }));
  }

  add(collection: Collection, record: { readonly id: Id }): void {
    for (const { field, ids } of this.#broken) {
      if (field.collection !== collection || ids.length > maxNamed) continue;
      const issues = new Issues();
      checkDeclaredValues([field], record as unknown as JsonObject, issues);
      if (issues.list.length > 0) ids.push(record.id);
    }
  }

  /** @throws DeclarationError if a record has a value of another type */
  end(): void {
    const broken = this.#broken.filter(({ ids }) => ids.length > 0);
    if (broken.length === 0) return;
    const reasons = broken.map(({ field, ids }) => {
      const { collection, name, type } = field;
      return `${collection}.${name} cannot be declared as ${type}. Records with other values: ${named(ids)}.`;
    });
    throw new DeclarationError(`${reasons.join(' ')} ${advice}`);
  }
}

/** Returns the error for a field that cannot be unique, because these records have the same value. */
export function notUnique(field: CollectionField, ids: readonly Id[]): DeclarationError {
  const { collection, name } = field;
  return new DeclarationError(
    `${collection}.${name} cannot be unique. Records with the same value: ${named(ids)}. ${advice}`,
  );
}

const advice = 'Change them first.';

function named(ids: readonly Id[]): string {
  return ids.slice(0, maxNamed).join(', ') + (ids.length > maxNamed ? ' and others' : '');
}
