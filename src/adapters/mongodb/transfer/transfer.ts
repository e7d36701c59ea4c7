import type { AnyBulkWriteOperation, Collection } from 'mongodb';
import { emailTaken, unknownAuthor } from '../../../domain/errors.ts';
import type { Post } from '../../../domain/post.ts';
import type { Entity, Versioned } from '../../../domain/record.ts';
import type { User } from '../../../domain/user.ts';
import type { RecordTransfer, Transfer } from '../../../ports/transfer.ts';
import type { Call } from '../connection/call.ts';
import type { Connection } from '../connection/connection.ts';
import { DuplicateKey } from '../connection/errors.ts';
import { limits } from '../connection/limits.ts';
import { posts, users } from '../lists/conditions.ts';
import { Lists } from '../lists/lists.ts';
import { replacing } from '../receipts.ts';
import {
  isVisible,
  type StoredPost,
  type StoredRecord,
  type StoredUser,
  toStoredPost,
  toStoredUser,
} from '../schema/documents.ts';

/** Moves a whole database that no other process writes to: the fence need not be kept. */
export function createTransfer(connection: Connection): Transfer {
  const userLists = new Lists<User, StoredUser, object, never>(connection, connection.users, users);
  const postLists = new Lists<Post, StoredPost, object, never>(connection, connection.posts, posts);
  return {
    users: transferOf(connection, userLists, (call, some) => loadUsers(call, connection, some)),
    posts: transferOf(connection, postLists, (call, some) => loadPosts(call, connection, some)),
  };
}

function transferOf<R extends Entity>(
  connection: Connection,
  lists: Pick<Lists<R, StoredRecord, never, never>, 'scan'>,
  loadSome: (call: Call, records: readonly Versioned<R>[]) => Promise<void>,
): RecordTransfer<R> {
  return {
    scan: (request) => connection.call((call) => lists.scan(call, request)),
    load: (records) =>
      connection.call((call) =>
        call.inParts(async () => {
          for (let n = 0; n < records.length; n += limits.loadRecords) {
            await loadSome(call, records.slice(n, n + limits.loadRecords));
            call.extend();
          }
        }),
      ),
  };
}

async function loadUsers(
  call: Call,
  connection: Connection,
  records: readonly Versioned<User>[],
): Promise<void> {
  const documents = records.map(({ record, version }) => toStoredUser(record, version));
  try {
    await putAll<StoredUser>(call, connection.users, documents);
  } catch (error) {
    throw error instanceof DuplicateKey ? emailTaken() : error;
  }
}

async function loadPosts(
  call: Call,
  connection: Connection,
  records: readonly Versioned<Post>[],
): Promise<void> {
  const authors = [...new Set(records.flatMap(({ record }) => record.authorId ?? []))];
  const named = { _id: { $in: authors.filter((id) => id.isWellFormed()) }, ...isVisible };
  const there = await call.read((bounds) => connection.users.countDocuments(named, bounds));
  if (there < authors.length) throw unknownAuthor();
  const documents = records.map(({ record, version }) => toStoredPost(record, version));
  await putAll<StoredPost>(call, connection.posts, documents);
}

/** Puts documents in the place of those that are there, in their order. */
async function putAll<D extends StoredRecord>(
  call: Call,
  collection: Collection<D>,
  documents: readonly D[],
): Promise<void> {
  const writes = documents.map((document) => ({
    updateOne: { filter: { _id: document._id }, update: replacing(document), upsert: true },
  })) as unknown as AnyBulkWriteOperation<D>[];
  await call.commit('load', (bounds) => collection.bulkWrite(writes, { ordered: true, ...bounds }));
}
