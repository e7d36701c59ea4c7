import type { Document } from 'mongodb';
import { declaredRules, knownFields } from '../../domain/fields/rules.ts';
import type { QueryField } from '../../domain/lists/list.ts';
import { searchRow } from '../../domain/lists/search.ts';
import { instantToMs } from '../../domain/records/instant.ts';
import type { Post } from '../../domain/records/post.ts';
import type { Receipt } from '../../domain/records/receipt.ts';
import {
  type Collection,
  type Id,
  type Version,
  VersionedRecord,
} from '../../domain/records/record.ts';
import { utf8Bytes } from '../../domain/records/text.ts';
import type { User } from '../../domain/records/user.ts';
import { limits } from './limits.ts';

/**
 * A record's JSON. A list reads many small records with one command, so a large record is in two parts: its short
 * members are in `json`, and the others in `rest`.
 */
interface StoredText {
  readonly json: string;
  readonly rest?: string;
  /** The size of `rest` in UTF-8. */
  readonly restBytes?: number;
  /** The names of the members in `rest`; absent if there are more than {@link maxRestNames}. */
  readonly restNames?: readonly string[];
}

/** A record as it is read; in a receipt, the record as it was created. */
export interface StoredRecord extends StoredText {
  readonly _id: Id;
  readonly version: Version;
  /** Members that changed when a post lost its author. They replace those in the JSON. */
  readonly override?: Pick<Post, 'authorId' | 'updatedAt'>;
}

export interface StoredReceipt extends StoredRecord {
  readonly fingerprint: string;
  readonly until: string;
}

/** A record that is about to be stored. */
export interface EncodedRecord {
  readonly id: Id;
  readonly json: string;
  readonly authorId: Id | null;
  /** The text, the search row, and the custom fields that can be declared. */
  readonly fields: Readonly<Record<string, unknown>> & StoredText;
}

/** The maximum size of a large record's member in `json`, in bytes. */
const maxShortMember = 1024;

/** Projected lists read the names with every large record, so they must stay short. */
const maxRestNames = 32;

/** The fields read for a small record, or for the small part of a large one. Only receipts have the last two. */
export const smallParts = {
  json: 1,
  restBytes: 1,
  restNames: 1,
  version: 1,
  override: 1,
  fingerprint: 1,
  until: 1,
} as const;

/** The fields read for a large record. */
export const allParts = { ...smallParts, rest: 1 } as const;

/**
 * Turns off the driver's search for invalid UTF-8 in a reply, which takes ten times as long as the rest of its parsing.
 * Rostrum stores only well-formed text.
 */
export const withoutUtf8Check = { enableUtf8Validation: false } as const;

/** Returns the options of a `find` that returns up to this many documents at once, and leaves no cursor open. */
export function oneBatch(limit: number) {
  return { limit, batchSize: limit, singleBatch: true } as const;
}

/** Encodes a record at once, because the caller may change it later. */
export function encode<R extends User | Post>(collection: Collection, record: R): EncodedRecord {
  const json = JSON.stringify(record);
  const { id, ...row } = searchRow(collection, record);
  const text = utf8Bytes(json) <= limits.smallRecord ? { json } : inParts(record);
  const custom = customValues(collection, record);
  const fields = { ...row, ...text, ...(custom && { custom }) };
  return { id: record.id, json, authorId: row.authorId ?? null, fields };
}

function inParts(record: object): StoredText {
  const short: string[] = [];
  const long: string[] = [];
  const restNames: string[] = [];
  let left: number = limits.smallRecord;
  for (const [name, value] of Object.entries(record)) {
    const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
    const bytes = utf8Bytes(member);
    if (bytes <= Math.min(maxShortMember, left)) {
      short.push(member);
      left -= bytes;
    } else {
      long.push(member);
      restNames.push(name);
    }
  }
  const rest = `{${long}}`;
  const names = restNames.length <= maxRestNames && { restNames };
  return { json: `{${short}}`, rest, restBytes: utf8Bytes(rest), ...names };
}

/** The parts of a document in which custom values are stored, by type. */
type CustomPart = 'text' | 'number' | 'boolean' | 'list';

/**
 * Returns custom field values by type: all fields that can be declared, because another process may declare
 * other ones. Uses maps, because the driver gives some object keys a special meaning.
 */
function customValues(collection: Collection, record: object): object | undefined {
  const values: Partial<Record<CustomPart, Map<string, unknown>>> = {};
  for (const [name, value] of Object.entries(record)) {
    // A name with a dot, or a `$` in front, is not a path, and cannot be declared.
    if (knownFields[collection].includes(name) || /^\$|\.|^$/.test(name)) continue;
    const [part, stored] = placeOf(value) ?? [];
    if (part === undefined) continue;
    values[part] ??= new Map();
    values[part].set(name, stored);
  }
  return Object.keys(values).length > 0 ? values : undefined;
}

/** Returns where a custom value is stored, and as what; undefined for a type that cannot be declared. */
function placeOf(value: unknown): [part: CustomPart, stored: unknown] | undefined {
  if (typeof value === 'string') return ['text', value];
  if (typeof value === 'boolean') return ['boolean', value];
  // Zero has one sign: JSON has no -0.
  if (typeof value === 'number') return ['number', value + 0];
  if (!Array.isArray(value)) return undefined;
  const { maxItems } = declaredRules['text[]'];
  const fitsList = value.length <= maxItems && value.every((one) => typeof one === 'string');
  return fitsList ? ['list', [...new Set(value)]] : undefined;
}

/** Returns the path of a field. A custom field with a value of another type is stored elsewhere. */
export function pathOf({ field, declaredType }: QueryField): string {
  if (declaredType !== undefined)
    return `custom.${declaredType === 'text[]' ? 'list' : declaredType}.${field}`;
  return field === 'id' ? '_id' : field;
}

/**
 * Returns an update that replaces every field of a document except `touched`. It uses operators, so that change
 * events say whether the version has changed.
 */
export function replacement({ fields }: EncodedRecord, version: Version): Document {
  const optional = ['rest', 'restBytes', 'restNames', 'override', 'custom'];
  const gone = optional.filter((name) => !(name in fields)).map((name) => [name, true]);
  return { $set: { ...fields, version }, $unset: Object.fromEntries(gone) };
}

/** Returns the record that was read. */
export function versionedOf<R>(stored: StoredRecord): VersionedRecord<R> {
  const { version, override } = stored;
  const json = textOf(stored);
  const text = override ? JSON.stringify({ ...JSON.parse(json), ...override }) : json;
  return new VersionedRecord<R>(text, version);
}

function textOf({ json, rest }: StoredText): string {
  if (rest === undefined) return json;
  return json === '{}' ? rest : `${json.slice(0, -1)},${rest.slice(1)}`;
}

/** Returns a receipt's stored fields, without its id and the record's version. */
export function receiptFields(
  { fingerprint, from, until }: Receipt,
  { fields }: EncodedRecord,
): Document {
  // This process's clock may differ from the receipt's, so the receipt's lifetime counts from now.
  const lifetime = Math.max(instantToMs(until) - instantToMs(from), 0);
  const expires = new Date(Date.now() + lifetime + limits.receiptGraceMs);
  const { json, rest, restBytes } = fields;
  return { fingerprint, until, expires, json, ...(rest && { rest, restBytes }) };
}
