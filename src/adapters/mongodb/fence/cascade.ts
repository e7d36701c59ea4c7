import type { ClientSession, Collection, Document, FindCursor } from 'mongodb';
import { RostrumError } from '../../../domain/errors.ts';
import { type Instant, latestInstant } from '../../../domain/instant.ts';
import type { Id } from '../../../domain/record.ts';
import type { DeleteMode } from '../../../ports/user-repository.ts';
import type { Bounds, Call } from '../connection/call.ts';
import type { Connection } from '../connection/connection.ts';
import { isCommitUnknown, isTransient } from '../connection/errors.ts';
import { limits } from '../connection/limits.ts';
import { receiptsWithFirst, tombstone } from '../receipts.ts';
import type { StoredPost, StoredUser } from '../schema/documents.ts';
import type { Fence } from './fence.ts';

interface SizedPost {
  readonly _id: Id;
  readonly size: number;
}

/** Of a transaction, or of none. */
interface InSession {
  readonly session?: ClientSession;
}

/** A user who is marked as leaving, and what becomes of their posts. */
export interface UserDeletion {
  readonly user: StoredUser;
  /** Of the mark. */
  readonly token: string;
  readonly mode: DeleteMode;
  readonly at: Instant;
  /** How many posts were changed, by any of its attempts. */
  readonly done: { posts: number };
}

/** Deletes users together with what they wrote; the server changes the posts by itself. */
export class Cascade {
  readonly #connection: Connection;
  readonly #fence: Fence;
  readonly #users: Collection<StoredUser>;
  readonly #posts: Collection<StoredPost>;

  constructor(connection: Connection, fence: Fence) {
    this.#connection = connection;
    this.#fence = fence;
    this.#users = connection.users;
    this.#posts = connection.posts;
  }

  /**
   * @returns false when it has to be begun anew, because the mark of leaving is gone
   * @throws RostrumError `user-has-posts`
   */
  async run(call: Call, deletion: UserDeletion): Promise<boolean> {
    const { user, token, mode } = deletion;
    await this.#fence.evict(call, user._id);
    // Also what no majority has yet: after the eviction nothing can be added to it.
    const read = { hint: authorIndex, readConcern: 'local' } as const;
    const posts = await call.readLocally((bounds) =>
      this.#posts.countDocuments(byAuthor(user._id), { ...read, ...bounds }),
    );
    if (posts > 0 && mode === 'refuse') throw new RostrumError('user-has-posts', { posts });
    if (posts === 0) return this.#deleteUser(call, deletion);
    if (posts > limits.quickPosts) await this.#fence.stay(call, user._id, token);
    return this.#connection.hasTransactions
      ? this.#atOnce(call, deletion)
      : this.#stepByStep(call, deletion);
  }

  /** All in one transaction: no reader sees a part of it. */
  async #atOnce(call: Call, deletion: UserDeletion): Promise<boolean> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#connection.inSession({}, async (session) => {
          session.startTransaction({
            readConcern: 'snapshot',
            writeConcern: { w: 'majority', journal: true },
            maxCommitTimeMS: limits.operationMs,
          });
          let posts = 0;
          for await (const ids of this.#parts(call, deletion.user._id, { session })) {
            posts += await this.#change(call, ids, deletion, { session });
          }
          if (!(await this.#deleteUser(call, deletion, { session }))) return false;
          await commit(call, session);
          deletion.done.posts = posts;
          return true;
        });
      } catch (error) {
        if (!isTransient(error)) throw error;
        await call.pause(attempt);
      }
    }
  }

  /** On a standalone server, which has no transactions: the posts first, and then the user. */
  async #stepByStep(call: Call, deletion: UserDeletion): Promise<boolean> {
    const { user, token, done } = deletion;
    for await (const ids of this.#parts(call, user._id)) {
      done.posts += await this.#change(call, ids, deletion);
      if (!(await this.#fence.stay(call, user._id, token))) return false;
    }
    return this.#deleteUser(call, deletion);
  }

  /**
   * The ids of the posts of a user, in parts that one operation may change. Each time the call has
   * got on, and may last on.
   */
  async *#parts(call: Call, author: Id, { session }: InSession = {}): AsyncGenerator<Id[]> {
    // Without a session as the primary has it, with what the cascade itself just did.
    const level = session ? { session } : ({ readConcern: 'local' } as const);
    const projection = { size: { $bsonSize: '$$ROOT' } };
    // The server reads a document for its size: few at a time, because they may be large.
    const maxTimeMS = limits.operationMs;
    const options = { projection, hint: authorIndex, batchSize: 50, maxTimeMS, ...level };
    const found = this.#posts.find<SizedPost>(byAuthor(author), options);
    let part: Id[] = [];
    let bytes = 0;
    try {
      for (let batch = await nextOf(call, found); batch.length > 0; ) {
        for (const { _id, size } of batch) {
          if (part.length === limits.cascadePosts || bytes + size > limits.cascadeBytes) {
            if (part.length > 0) yield part;
            call.extend();
            [part, bytes] = [[], 0];
          }
          part.push(_id);
          bytes += size;
        }
        batch = await nextOf(call, found);
      }
    } finally {
      // The server holds an open cursor for the session, which ends after this.
      await call.readLocally(() => found.close()).catch(() => {});
    }
    if (part.length > 0) yield part;
    call.extend();
  }

  /**
   * A post that names another author by now stays as it is.
   *
   * @returns how many posts it changed
   */
  async #change(
    call: Call,
    ids: readonly Id[],
    { user, mode, at }: UserDeletion,
    options: InSession = {},
  ): Promise<number> {
    const filter = { _id: { $in: ids }, ...byAuthor(user._id) };
    const change = mode === 'keep' ? withoutAuthor(at) : tombstone;
    const { matchedCount } = await write(call, 'posts', options, (bounds) =>
      this.#posts.updateMany(filter, change, { ...options, ...bounds }),
    );
    return matchedCount;
  }

  async #deleteUser(
    call: Call,
    { user, token }: UserDeletion,
    options: InSession = {},
  ): Promise<boolean> {
    const marked = { _id: user._id, 'leaving.token': token };
    const { matchedCount } = await write(call, 'user', options, (bounds) =>
      this.#users.updateOne(marked, tombstone, { ...options, ...bounds }),
    );
    return matchedCount === 1;
  }
}

/** Documents as the server sends them; none at the end. */
function nextOf<T>(call: Call, cursor: FindCursor<T>): Promise<T[]> {
  return call.readLocally(async () =>
    (await cursor.hasNext()) ? cursor.readBufferedDocuments() : [],
  );
}

/** What `withoutAuthor` of the domain makes of a post, for the server to do. */
function withoutAuthor(at: Instant): Document[] {
  const format = '%Y-%m-%dT%H:%M:%S.%LZ';
  const before = { $dateFromString: { dateString: '$record.updatedAt', format } };
  const next = { $min: [{ $add: [before, 1] }, new Date(latestInstant)] };
  const updatedAt = { $max: [at, { $dateToString: { date: next, format } }] };
  return [
    {
      $set: {
        version: { $add: ['$version', 1] },
        'record.authorId': null,
        'record.updatedAt': updatedAt,
        claims: receiptsWithFirst,
      },
    },
  ];
}

const authorIndex = 'author_createdAt';

function byAuthor(author: Id): { 'record.authorId': Id } {
  return { 'record.authorId': author };
}

/** In a transaction nothing has been changed before it is committed. */
function write<T>(
  call: Call,
  step: string,
  { session }: InSession,
  run: (bounds: Bounds) => Promise<T>,
): Promise<T> {
  return session ? call.prepare(step, run) : call.commit(step, run);
}

/** Commits again for as long as it is not known whether the server has. */
async function commit(call: Call, session: ClientSession): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await call.commit('commit', () => session.commitTransaction());
    } catch (error) {
      if (!isCommitUnknown(error)) throw error;
      await call.pause(attempt, 'unknown');
    }
  }
}
