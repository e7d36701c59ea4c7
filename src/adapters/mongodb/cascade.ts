import type { ClientSession, Collection } from 'mongodb';
import { afterChange, userHasPosts } from '../../domain/errors.ts';
import type { Position } from '../../domain/page.ts';
import type { Post } from '../../domain/post.ts';
import type { Id } from '../../domain/record.ts';
import type { Decide } from '../../ports/repository.ts';
import type { PostsOfDeleted } from '../../ports/user-repository.ts';
import type { Bounds, Call } from './call.ts';
import { deleted, released } from './cascade-changes.ts';
import { tombstoneOf } from './claims.ts';
import type { Connection } from './connection.ts';
import { type StoredPost, type StoredUser, toVersioned } from './documents.ts';
import { DuplicateKey, isCommitUnknown, isTransient } from './errors.ts';
import type { Fence } from './fence.ts';
import { limits } from './limits.ts';
import { pageQuery } from './list-query.ts';
import { postConditions, postPaths } from './post-conditions.ts';

/** Within a transaction, or without one. */
interface Within {
  readonly session?: ClientSession;
}

/** The deletion of a user who is marked as leaving, and what becomes of their posts. */
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
  async run(call: Call, user: StoredUser, token: string, wish: PostsOfDeleted): Promise<boolean> {
    await this.#fence.evict(call, user._id);
    const posts = await this.#count(call, user._id);
    if (posts > 0 && wish.posts === 'refuse') throw userHasPosts(posts);
    const release = wish.posts === 'keep' ? wish.release : undefined;
    try {
      if (posts === 0) return await this.#deleteUser(call, user, token);
      if (posts > limits.cascadeBatch) {
        await this.#fence.stay(call, user._id, token, limits.cascadeLeaseMs);
      }
      return this.#connection.hasTransactions
        ? await this.#atOnce(call, user, token, release)
        : await this.#stepByStep(call, user, token, release);
    } catch (error) {
      // A claim that was outlived is another record's by now: what was read of it is old.
      if (error instanceof DuplicateKey) return false;
      throw error;
    }
  }

  /** Also what no majority has yet: after the eviction nothing can be added to it. */
  #count(call: Call, author: Id): Promise<number> {
    return call.read((bounds) =>
      this.#posts.countDocuments(byAuthor(author), {
        ...unordered,
        readConcern: 'local',
        ...bounds,
      }),
    );
  }

  /** All in one transaction: no reader sees a part of it. */
  async #atOnce(
    call: Call,
    user: StoredUser,
    token: string,
    release: Decide<Post> | undefined,
  ): Promise<boolean> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#connection.inSession({}, async (session) => {
          session.startTransaction({
            readConcern: 'snapshot',
            writeConcern: { w: 'majority', journal: true },
            maxCommitTimeMS: limits.operationMs,
          });
          await this.#pass(call, user._id, release, { session });
          if (!(await this.#deleteUser(call, user, token, { session }))) return false;
          await commit(call, session);
          return true;
        });
      } catch (error) {
        if (!isTransient(error)) throw error;
        await call.pause(attempt);
      }
    }
  }

  /** On a standalone server, which has no transactions: the posts first, and then the user. */
  async #stepByStep(
    call: Call,
    user: StoredUser,
    token: string,
    release: Decide<Post> | undefined,
  ): Promise<boolean> {
    // What it throws has to come before anything is changed.
    if (release) await this.#rehearse(call, user._id, release);
    try {
      // Again, because a post that was changed meanwhile is still there.
      while (await this.#pass(call, user._id, release)) {
        if (!(await this.#fence.stay(call, user._id, token, limits.cascadeLeaseMs))) return false;
      }
      return await this.#deleteUser(call, user, token);
    } catch (error) {
      throw afterChange(error);
    }
  }

  async #rehearse(call: Call, author: Id, release: Decide<Post>): Promise<void> {
    for await (const some of this.#batches(call, author)) {
      for (const post of some) released(post, release);
    }
  }

  /** Deletes or releases the posts, once through. False when there was none. */
  async #pass(
    call: Call,
    author: Id,
    release: Decide<Post> | undefined,
    within: Within = {},
  ): Promise<boolean> {
    let any = false;
    for await (const some of this.#batches(call, author, within)) {
      any = true;
      const changes = some.map((post) => (release ? released(post, release) : deleted(post)));
      await write(call, 'posts', within, (bounds) =>
        this.#posts.bulkWrite(changes, { ordered: false, ...within, ...bounds }),
      );
    }
    return any;
  }

  /** The posts of a user, some at a time; each time the call has got on, and may last on. */
  async *#batches(
    call: Call,
    authorId: Id,
    { session }: Within = {},
  ): AsyncGenerator<StoredPost[]> {
    const limit = limits.cascadeBatch;
    // Without a session as the primary has it, with what the cascade itself just did.
    const level = session ? { session } : ({ readConcern: 'local' } as const);
    let after: Position | undefined;
    do {
      // By position and not from the start: in a transaction, what it deleted is still gone through.
      const { page, sort, hint } = pageQuery(
        postConditions({ authorId }),
        oldest,
        postPaths,
        after,
      );
      const some = await call.read((bounds) =>
        this.#posts
          .find(page, { hint, limit, ...level, ...bounds })
          .sort(sort)
          .toArray(),
      );
      if (some.length > 0) yield some;
      call.extend();
      const last = some.length === limit ? toVersioned<Post>(some.at(-1))?.record : undefined;
      after = last && { key: last.createdAt, id: last.id };
    } while (after !== undefined);
  }

  async #deleteUser(
    call: Call,
    user: StoredUser,
    token: string,
    within: Within = {},
  ): Promise<boolean> {
    const marked = { _id: user._id, 'leaving.token': token };
    const tombstone = tombstoneOf(user);
    return write(call, 'user', within, async (bounds) => {
      const options = { ...within, ...bounds };
      if (tombstone === undefined) {
        return (await this.#users.deleteOne(marked, options)).deletedCount === 1;
      }
      return (await this.#users.replaceOne(marked, tombstone, options)).matchedCount === 1;
    });
  }
}

const oldest = { by: 'createdAt', direction: 'asc' } as const;

const unordered = { hint: 'author_createdAt' } as const;

function byAuthor(author: Id): { 'record.authorId': Id } {
  return { 'record.authorId': author };
}

/** In a transaction nothing has been changed before it is committed. */
function write<T>(
  call: Call,
  step: string,
  { session }: Within,
  run: (bounds: Bounds) => Promise<T>,
): Promise<T> {
  return session ? call.prepare(step, run) : call.commit(step, run);
}

/** Says it again for as long as nobody knows whether it was heard. */
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
