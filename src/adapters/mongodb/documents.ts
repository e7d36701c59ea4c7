import { BSON, type Document } from 'mongodb';
import { knownFields, rules } from '../../domain/fields/rules.ts';
import type { QueryField } from '../../domain/lists/list.ts';
import { searchFields, searchRow } from '../../domain/lists/search.ts';
import { instantToMs } from '../../domain/records/instant.ts';
import { setMember } from '../../domain/records/json.ts';
import type { Post } from '../../domain/records/post.ts';
import type { Receipt } from '../../domain/records/receipt.ts';
import type { Collection, Id, Version } from '../../domain/records/record.ts';
import type { User } from '../../domain/records/user.ts';
import { limits } from './limits.ts';

/** A record that is about to be stored. */
export interface EncodedRecord {
  readonly id: Id;
  readonly json: string;
  readonly authorId: Id | null;
  /** The fields of its document, except the id and the version. */
  readonly fields: Document;
}

/** A receipt as it was read, with the document of the record that was created under it. */
export interface StoredReceipt {
  readonly _id: string;
  readonly fingerprint: string;
  readonly until: string;
  readonly record: Buffer;
}

/**
 * Encodes a record at once, because the caller may change it later. The fields are in the order of the record: the known
 * ones, each followed by its search key, then all others in `custom`, then the times.
 */
export function encode<R extends User | Post>(collection: Collection, record: R): EncodedRecord {
  const row = searchRow(collection, record);
  const fields: Document = {};
  for (const { name, key, nfc } of searchedFields[collection]) {
    const value: unknown = Reflect.get(record, name);
    if (value === undefined) continue;
    fields[name] = value;
    if (key !== undefined) fields[key] = row[key];
    if (nfc !== undefined && row[name] !== value) fields[nfc] = row[name];
  }
  const custom: Record<string, unknown> = {};
  for (const name of Object.keys(record)) {
    if (!knownFields[collection].includes(name)) copyMember(record, name, custom);
  }
  fields.custom = custom;
  fields.createdAt = record.createdAt;
  fields.updatedAt = record.updatedAt;
  return { id: record.id, json: JSON.stringify(record), authorId: row.authorId ?? null, fields };
}

/** A known field, and the fields that lists find it by. */
interface SearchedField {
  readonly name: string;
  readonly key: string | undefined;
  /** Its text in NFC, which a document has only if that is another text. */
  readonly nfc: string | undefined;
}

const searchedFields: Readonly<Record<Collection, readonly SearchedField[]>> = {
  users: searchedFieldsOf('users'),
  posts: searchedFieldsOf('posts'),
};

function searchedFieldsOf(collection: Collection): SearchedField[] {
  return Object.keys(rules[collection]).map((name) => {
    const key = `${name}Key`;
    const hasKey = key in searchFields[collection];
    return {
      name,
      key: hasKey ? key : undefined,
      nfc: hasKey && name in searchFields[collection] ? nfcOf(name) : undefined,
    };
  });
}

export function nfcOf(name: string): string {
  return `${name}Nfc`;
}

/** Returns the path of a field. */
export function pathOf({ field, declaredType }: QueryField): string {
  if (declaredType !== undefined) return `custom.${field}`;
  return field === 'id' ? '_id' : field;
}

/** Returns the path to project for a field of a record: all custom fields for a name that is not a path. */
export function fieldPath(collection: Collection, name: string): string {
  if (knownFields[collection].includes(name)) return pathOf({ field: name });
  return /^\$|[.\0]|^$/.test(escapeKey(name)) ? 'custom' : `custom.${name}`;
}

/** Returns the value at a path of a document; undefined if it is missing. */
export function valueAt(document: Document, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => {
    const isMember = value instanceof Object && Object.hasOwn(value, name);
    return isMember ? Reflect.get(value, name) : undefined;
  }, document);
}

export function documentOf({ id, fields }: EncodedRecord, version: Version): Document {
  return { _id: id, version, ...fields };
}

/**
 * Returns an update that replaces every field of a record, but not its `authorLock`. It uses operators, so that change
 * events say whether the version has changed.
 */
export function replacement({ fields }: EncodedRecord, version: Version): Document {
  const optional = [nfcOf('name'), nfcOf('title')];
  const gone = optional.filter((name) => !(name in fields)).map((name) => [name, true]);
  return { $set: { ...fields, version }, $unset: Object.fromEntries(gone) };
}

export function receiptId(collection: Collection, { key }: Receipt): string {
  return `${collection} ${key}`;
}

/**
 * Returns the fields of a receipt's document, except the id.
 *
 * @param record the document that is created under it
 */
export function receiptFields({ fingerprint, from, until }: Receipt, record: Document): Document {
  // This process's clock may differ from the receipt's, so the receipt's lifetime counts from now.
  const lifetime = Math.max(instantToMs(until) - instantToMs(from), 0);
  const expires = new Date(Date.now() + lifetime + limits.receiptGraceMs);
  return { fingerprint, until, expires, record };
}

/**
 * Decodes a document, except that it leaves documents in it undecoded with `raw`. Skips the search for invalid UTF-8,
 * which takes ten times as long as the rest: Rostrum stores only well-formed text.
 */
export function decode(document: Buffer, { raw = false } = {}): Document {
  return BSON.deserialize(document, { validation: { utf8: false }, raw });
}

/** Escapes a key that the server or its drivers would misunderstand, such as `$ref`. */
function escapeKey(key: string): string {
  return key.startsWith('$') || key === '_bsontype' ? `$${key}` : key;
}

/** Copies a value of JSON, with escaped keys. */
function copyEscaped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyEscaped);
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) copyMember(value, key, copy);
  return copy;
}

function copyMember(from: object, key: string, to: Record<string, unknown>): void {
  const value: unknown = Reflect.get(from, key);
  if (value !== undefined) setMember(to, escapeKey(key), copyEscaped(value));
}
