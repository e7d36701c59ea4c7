import { isFieldName } from './i-json.ts';
import { isPlainObject } from './json.ts';
import { checkOptions } from './options.ts';
import type { Collection, Id } from './record.ts';
import { knownFields } from './rules.ts';

/** The types of custom fields that a deployment can declare. */
const declaredTypes = ['text', 'number', 'boolean', 'text[]'] as const;
export type DeclaredType = (typeof declaredTypes)[number];

/** The type of a custom field, and whether its values are unique; by default they are not. */
export type FieldDeclaration =
  | DeclaredType
  | { readonly type: DeclaredType; readonly unique?: boolean | undefined };

/** Declared custom fields of users, or of posts, by name: lists can be filtered by them. */
export type FieldDeclarations = Readonly<Record<string, FieldDeclaration>>;

/** The declared fields of a deployment; none if absent. */
export interface DeclaredFields {
  readonly users?: FieldDeclarations | undefined;
  readonly posts?: FieldDeclarations | undefined;
}

/** The declaration of a deployment that declares nothing. */
export type NoDeclaredFields = Readonly<Record<never, never>>;

/** The declared fields of one collection. */
export type FieldsOf<
  Filters extends DeclaredFields,
  Name extends Collection,
> = Name extends keyof Filters ? Filters[Name] : undefined;

/** Limit of declared fields of users, or of posts: each of them costs an index. */
const maxDeclaredFields = 32;

/** Query parameters of the HTTP API. */
const reservedNames = ['limit', 'cursor', 'sort', 'count', 'fields', 'include', 'access_token'];

/** Names that every store can index: some databases accept no dot or `$`. */
const namePattern = /^[\p{L}_][\p{L}\p{M}\p{N}_-]{0,63}$/u;

/** True if a custom field of this name can be declared. */
export function isDeclarable(collection: Collection, name: string): boolean {
  const isTaken = knownFields[collection].includes(name) || reservedNames.includes(name);
  return !isTaken && namePattern.test(name) && isFieldName(name);
}

/** A declared custom field. */
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
 * Checks the declaration of a deployment.
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
      throw new RangeError(
        `At most ${maxDeclaredFields} custom fields of ${collection} can be declared.`,
      );
    }
  }
}

function checkDeclaration(name: string, declared: unknown): void {
  const { type, unique = false } = isPlainObject(declared)
    ? checkOptions<{ type?: unknown; unique?: unknown }>(declared, ['type', 'unique'], `"${name}"`)
    : { type: declared };
  const known = declaredTypes.find((one) => one === type);
  if (known === undefined) {
    throw new TypeError(`The type of "${name}" must be one of ${declaredTypes.join(', ')}.`);
  }
  if (typeof unique !== 'boolean') {
    throw new TypeError(`The option "unique" of "${name}" must be true or false.`);
  }
  if (unique && !isSortable({ type: known })) {
    throw new TypeError(`"${name}" cannot be unique: only a text or a number can.`);
  }
}

/** Returns why a field cannot be declared as `text[]`: a stored record has too many elements. */
export function arrayTooLongMessage(field: string, collection: Collection, id: Id): string {
  return `"${field}" cannot be declared as text[]: it has more than ${maxArrayLength} elements in ${collection.slice(0, -1)} ${id}. Shorten it, or start without the declaration.`;
}

/** Returns why a field cannot be declared as unique: stored records have the same value. */
export function notUniqueMessage(field: string, collection: string, ids: readonly Id[]): string {
  return `"${field}" cannot be unique: ${collection} ${ids.join(' and ')} have the same value. Change one of them, or start without the declaration.`;
}

/** Limit of elements in a declared `text[]`: each of them is an index entry. */
export const maxArrayLength = 64;
