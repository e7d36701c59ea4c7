import type { AnyBulkWriteOperation } from 'mongodb';
import { copyJson } from '../../domain/json.ts';
import type { Post } from '../../domain/post.ts';
import type { Decide } from '../../ports/repository.ts';
import { keptClaims, tombstoneOf } from './claims.ts';
import { asRead, type StoredPost, toStoredPost, toVersioned } from './documents.ts';

// Each is of the very version that was read: a post that was changed meanwhile stays as it is.

type Change = AnyBulkWriteOperation<StoredPost>;

/** The deletion of a post; its claims live on. */
export function deleted(post: StoredPost): Change {
  const filter = asRead(post);
  const tombstone = tombstoneOf(post);
  if (tombstone === undefined) return { deleteOne: { filter } };
  return { replaceOne: { filter, replacement: tombstone } };
}

/** What becomes of a post that is left without its author. */
export function released(post: StoredPost, release: Decide<Post>): Change {
  const { _id } = post;
  const current = toVersioned<Post>(post);
  const record = current && copyJson(release(copyJson(current)));
  if (!current || !record || record.authorId === current.record.authorId) {
    throw new TypeError('A post that is released has to lose its author.');
  }
  const replacement = toStoredPost(record, current.version + 1, keptClaims(post), post.loaded);
  return { replaceOne: { filter: asRead(post), replacement } };
}
