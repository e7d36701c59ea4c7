import type { Document } from 'mongodb';
import { emailKey } from '../../domain/email.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Post } from '../../domain/post.ts';
import type { Entity, Id, Versioned } from '../../domain/record.ts';
import type { User } from '../../domain/user.ts';
import { escapeKeys, unescapeKeys } from './keys.ts';

/** A claim, kept in the document of the record that was made under it. */
export interface StoredClaim {
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
 * in the making, or what is left of a deleted record so that its claims live on (a tombstone).
 *
 * The record lies below one field of ours, so that own fields of any name are safe from ours and
 * from the server's; documents are only ever inserted and replaced whole, or changed in the
 * fields beside it.
 */
export interface StoredRecord {
  readonly _id: Id;
  readonly record?: Document;
  readonly version?: number;
  readonly claims?: readonly StoredClaim[];
  /** Names the load that it is from, through all changes since. See {@link asRead}. */
  readonly loaded?: string;
  /** When the server (its TTL index) removes a hidden document. */
  readonly expires?: Date;
}

export interface StoredUser extends StoredRecord {
  /** The key of the email address, and `''` without one: below every text, as the order wants it. */
  readonly emailKey?: string;
  /** Stands while the user is being deleted. */
  readonly leaving?: { readonly token: string; readonly until: Date };
}

export interface StoredPost extends StoredRecord {
  /** Stands while the post is being made. */
  readonly pending?: true;
  /** Authors that the post is about to name, each with the token of who is about to do it. */
  readonly joining?: readonly { readonly token: string; readonly author: Id }[];
}

/** Holds of the documents that readers see. */
export const isVisible = { record: { $exists: true } } as const;

/** Holds of those that they do not see. */
export const isHidden = { record: { $exists: false } } as const;

/**
 * Holds of a document for as long as it is as it was read. Its version alone would not tell: a load
 * may put another record at the same version. Behind one load versions only grow.
 */
export function asRead({ _id, version, loaded }: StoredRecord): { readonly _id: Id } {
  return { _id, version, loaded: loaded ?? { $exists: false } } as { readonly _id: Id };
}

/** The first version of every record. */
export const firstVersion = 1;

/** A user's document. */
export function toStoredUser(
  user: User,
  version: number,
  claims: readonly StoredClaim[],
  loaded?: string,
): StoredUser {
  const key = user.email === null ? '' : emailKey(user.email);
  return { ...toStored(user, version, claims, loaded), emailKey: key };
}

/** A post's document, when all may see it. */
export function toStoredPost(
  post: Post,
  version: number,
  claims: readonly StoredClaim[],
  loaded?: string,
): StoredPost {
  return toStored(post, version, claims, loaded);
}

function toStored(
  record: Entity,
  version: number,
  claims: readonly StoredClaim[],
  loaded: string | undefined,
): StoredRecord {
  return {
    _id: record.id,
    version,
    record: escapeKeys(record) as Document,
    ...(claims.length > 0 && { claims }),
    ...(loaded !== undefined && { loaded }),
  };
}

export function toRecord<R extends Entity>(document: Document): R {
  return unescapeKeys(document) as R;
}

/** What a reader gets of a document; undefined when it is hidden. */
export function toVersioned<R extends Entity>(
  stored: StoredRecord | null | undefined,
): Versioned<R> | undefined {
  if (stored?.record === undefined || stored.version === undefined) return undefined;
  return { record: toRecord<R>(stored.record), version: stored.version };
}
