import { BSON, type Document } from 'mongodb';
import { emailKey } from '../../../domain/email.ts';
import type { Instant } from '../../../domain/instant.ts';
import type { Post } from '../../../domain/post.ts';
import { type Entity, type Id, VersionedRecord } from '../../../domain/record.ts';
import { textKey } from '../../../domain/text.ts';
import type { User } from '../../../domain/user.ts';
import { escapeKeys, unescapeKeys } from './keys.ts';

/** A receipt, kept in the document of the record that was made under it. */
export interface StoredReceipt {
  readonly key: string;
  readonly fingerprint: string;
  readonly until: Instant;
  /** From when on the sweep may take it: later than `until`, by the clock of the machine. */
  readonly expires: Date;
  /** The record as it was first made; absent while the document still holds just that. */
  readonly first?: Document;
}

/**
 * A document of users or posts. What readers see has a `record`. What has none is hidden: a post
 * in the making, or what is left of a deleted record (a tombstone).
 *
 * The record lies below one field of ours, so that custom fields of any name are safe from ours and
 * from the server's.
 */
export interface StoredRecord {
  readonly _id: Id;
  readonly record?: Document;
  readonly version?: number;
  readonly claims?: readonly StoredReceipt[];
  /** When the server (its TTL index) removes a post that was given up in the making. */
  readonly expires?: Date;
}

export interface StoredUser extends StoredRecord {
  readonly nameKey?: string;
  /** The key of the email address, and `''` without one: below every text, as the order wants it. */
  readonly emailKey?: string;
  /** Stands while the user is being deleted. */
  readonly leaving?: { readonly token: string; readonly until: Date };
}

export interface StoredPost extends StoredRecord {
  readonly titleKey?: string;
  /** From when on the post is public, and `''` of a draft: below every instant. */
  readonly publishedKey?: string;
  /** Stands while the post is being made. */
  readonly pending?: true;
  /** Authors that the post is about to name, each with the token of the call that does it. */
  readonly joining?: readonly { readonly token: string; readonly author: Id }[];
}

/** Holds of the documents that readers see. */
export const isVisible = { record: { $exists: true } } as const;

/** Holds of a document for as long as its record is at the version that was read. */
export function asRead({ _id, version }: StoredRecord): { readonly _id: Id } {
  return { _id, version } as { readonly _id: Id };
}

/** The first version of every record. */
export const firstVersion = 1;

export function toStoredUser(user: User, version: number): StoredUser {
  const key = user.email === null ? '' : emailKey(user.email);
  return { ...toStored(user, version), nameKey: textKey(user.name), emailKey: key };
}

/** A post's document, when readers may see it. */
export function toStoredPost(post: Post, version: number): StoredPost {
  const titleKey = textKey(post.title);
  return { ...toStored(post, version), titleKey, publishedKey: post.publishedAt ?? '' };
}

function toStored(record: Entity, version: number): StoredRecord {
  return { _id: record.id, version, record: escapeKeys(record) as Document };
}

export function toVersioned<R extends Entity>(
  record: Document,
  version: number,
): VersionedRecord<R> {
  return new VersionedRecord(unescapeKeys(record) as R, version);
}

/** A document as it is read. */
export interface ReadDocument {
  /** The record as JSON; empty where there is none. */
  readonly json: string;
  /** The whole; keys of custom fields may be as they are stored. */
  readonly stored: Document;
}

/**
 * Parses a document that a query returned as BSON.
 *
 * @throws BSONError for text that is not UTF-8: another tool has written it
 */
export function fromBson(bson: Uint8Array): ReadDocument {
  // Two looks at the whole JSON, which cost less than one at each text and each key.
  const stored = BSON.deserialize(bson, { validation: { utf8: false } });
  const json = JSON.stringify(stored.record) ?? '';
  const texts: unknown[] = [json, ...Object.values(stored)];
  // U+FFFD may stand for what is not UTF-8.
  if (texts.some((text) => typeof text === 'string' && text.includes('\ufffd'))) {
    BSON.deserialize(bson);
  }
  const isEscaped = json.includes('"~');
  return { stored, json: isEscaped ? JSON.stringify(unescapeKeys(stored.record)) : json };
}
