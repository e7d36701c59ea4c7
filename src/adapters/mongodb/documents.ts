import { setImmediate as nextIteration } from 'node:timers/promises';
import { BSON, type Document } from 'mongodb';
import { knownFields, rules } from '../../domain/fields/rules.ts';
import type { ListQuery, QueryField, SortKey } from '../../domain/lists/list.ts';
import { instantFields, searchRow } from '../../domain/lists/search.ts';
import { instantToMs } from '../../domain/records/instant.ts';
import { isPlainObject, setMember } from '../../domain/records/json.ts';
import type { Post } from '../../domain/records/post.ts';
import type { Receipt } from '../../domain/records/receipt.ts';
import { type Collection, type Id, pickFields, type Version } from '../../domain/records/record.ts';
import type { User } from '../../domain/records/user.ts';
import { limits } from './limits.ts';

export interface EncodedRecord {
  readonly id: Id;
  readonly json: string;
  readonly authorId: Id | null;
  /** The fields of its document, except the id and the version. */
  readonly fields: Document & { readonly custom: ReadonlyMap<string, unknown> };
}

export interface StoredRecord {
  readonly id: Id;
  readonly version: Version;
  readonly json: string;
  readonly authorId: Id | null;
  /** Its sort key, if it was read for a list. */
  readonly key: SortKey;
}

/** A receipt as it was read, with the record that was created under it. */
export interface StoredReceipt {
  readonly _id: string;
  readonly version: Version;
  readonly fingerprint: string;
  readonly until: string;
  readonly json: string;
}

/** Encodes a record synchronously, because the caller may change it later. */
export function encodeRecord<R extends User | Post>(
  collection: Collection,
  record: R,
): EncodedRecord {
  const { id, createdAt, updatedAt } = record;
  const known: Record<string, unknown> = {};
  // A map: adding tens of thousands of members to an object and storing it takes twice as long.
  const custom = new Map<string, unknown>();
  for (const [name, value] of Object.entries(record)) {
    if (knownFields[collection].includes(name)) {
      if (name in rules[collection]) known[name] = toBson(name, value);
    } else if (value !== undefined) custom.set(escapeKey(name), copyEscaped(value));
  }
  const row = searchRow(collection, record);
  for (const [name, value] of Object.entries(row)) {
    if (!knownFields[collection].includes(name)) known[name] = value;
    else if (nfcFields.includes(name) && known[name] !== value) known[nfcOf(name)] = value;
  }
  const times = { createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) };
  const fields = { ...known, custom, ...times };
  return { id, json: JSON.stringify(record), authorId: row.authorId ?? null, fields };
}

/** Encodes a record's value for a document path. Instants become dates. */
export function toBson(path: string, value: unknown): unknown {
  return instantFields.includes(path) && typeof value === 'string' ? new Date(value) : value;
}

/** Decodes a value of a document. `JSON.stringify` would take twice the time for dates. */
export function fromBson(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}

/** The texts of records that are searched in NFC. */
export const nfcFields: readonly string[] = ['name', 'title'];

/** Returns the name of the field for a text in NFC. A document has it only if the text itself is not in NFC. */
export function nfcOf(name: string): string {
  return `${name}Nfc`;
}

/** Reads the record in a document; for a list, with its sort key and only the requested fields. */
export function decodeRecord(
  collection: Collection,
  bytes: Buffer,
  { fields, order }: Partial<ListQuery> = {},
): StoredRecord {
  // Skips the search for invalid UTF-8, which takes ten times as long as the rest: Rostrum stores only well-formed text.
  const document = BSON.deserialize(bytes, { validation: { utf8: false } });
  const { _id: id, version, authorId, custom = {}, createdAt, updatedAt } = document;
  const known = Object.keys(rules[collection]).map((name) => [name, fromBson(document[name])]);
  const times = { createdAt: fromBson(createdAt), updatedAt: fromBson(updatedAt) };
  const record = { id, ...Object.fromEntries(known), ...custom, ...times };
  const text = JSON.stringify(fields ? pickFields(record, fields.map(escapeKey)) : record);
  // Removes what `escapeKey` has added: only a key is followed by a colon, and none of JSON's own quotation marks by a `$`.
  const json = text.includes('"$')
    ? text.replaceAll(/([{,])"\$((?:[^"\\]|\\.)*":)/g, '$1"$2')
    : text;
  const key = order && (fromBson(valueAt(document, pathOf(order))) as SortKey | undefined);
  return { id, version, json, authorId: authorId ?? null, key: key ?? null };
}

export function pathOf({ field, declaredType }: QueryField): string {
  if (declaredType !== undefined) return `custom.${field}`;
  return field === 'id' ? '_id' : field;
}

/** Returns the path to project for a field of a record: all custom fields for a name that is not a path. */
export function fieldPath(collection: Collection, name: string): string {
  if (knownFields[collection].includes(name)) return pathOf({ field: name });
  return /^[$\d]|[.\0]|^$/.test(escapeKey(name)) ? 'custom' : `custom.${name}`;
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
  const names = nfcFields.map(nfcOf).filter((name) => !(name in fields));
  const gone = names.map((name) => [name, true]);
  return { $set: { ...fields, version }, $unset: Object.fromEntries(gone) };
}

export function receiptId(collection: Collection, { key }: Receipt): string {
  return `${collection} ${key}`;
}

/** Returns an update that stores a receipt, unless one with its key is there and has not expired. */
export function receiptUpsert(
  collection: Collection,
  receipt: Receipt,
  { json }: EncodedRecord,
  version: Version,
): Document {
  const { fingerprint, from, until } = receipt;
  // This process's clock may differ from the receipt's, so the receipt's lifetime counts from now.
  const lifetime = Math.max(instantToMs(until) - instantToMs(from), 0);
  const expires = new Date(Date.now() + lifetime + limits.receiptGraceMs);
  const expired = { _id: receiptId(collection, receipt), until: { $lte: from } };
  return { q: expired, u: { version, fingerprint, until, expires, json }, upsert: true };
}

/** Escapes a key that the server or its drivers would misunderstand, such as `$ref`. */
function escapeKey(key: string): string {
  return key.startsWith('$') || key === '_bsontype' ? `$${key}` : key;
}

/** Copies a value with escaped keys, without members that are undefined. */
function copyEscaped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyEscaped);
  if (!isPlainObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) setMember(copy, escapeKey(key), copyEscaped(member));
  }
  return copy;
}

/** The bytes since the last pause, and the pause in progress. */
let bytesSincePause = 0;
let pause: Promise<void> | undefined;

/**
 * Limits decoding and encoding to `bytesPerIteration`, or one larger document, in an iteration of the event loop, so that
 * other work runs in between. Returns undefined if the bytes fit into this iteration.
 */
export function waitForIteration(bytes: number): Promise<void> | undefined {
  if (bytesSincePause > 0 && bytesSincePause + bytes > limits.bytesPerIteration) {
    pause ??= nextIteration().then(() => {
      pause = undefined;
      bytesSincePause = 0;
    });
    return pause.then(() => waitForIteration(bytes));
  }
  bytesSincePause += bytes;
  return undefined;
}
