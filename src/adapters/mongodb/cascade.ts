import type { AnyBulkWriteOperation, ClientSession, Collection } from 'mongodb';
import { userHasPosts } from '../../domain/errors.ts';
import type { Position } from '../../domain/page.ts';
import type { Post } from '../../domain/post.ts';
import type { Id } from '../../domain/record.ts';
import type { Decide } from '../../ports/repository.ts';
import type { PostsOfDeleted } from '../../ports/user-repository.ts';
import { afterChange, type Call } from './call.ts';
import { keptClaims, tombstoneOf } from './claims.ts';
import type { Connection } from './connection.ts';
import { type StoredPost, type StoredUser, toStoredPost, toVersioned } from './documents.ts';
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
      return this.#connection.hasTransactions
        ? await this.#atOnce(call, user, token, posts, release)
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
    posts: number,
    release: Decide<Post> | undefined,
  ): Promise<boolean> {
    if (posts > limits.cascadeBatch) {
      await this.#fence.stay(call, user._id, token, limits.cascadeLeaseMs);
    }
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#connection.inSession({}, async (session) => {
          session.startTransaction({
            readConcern: 'snapshot',
            writeConcern: { w: 'majority', journal: true },
            maxCommitTimeMS: limits.operationMs,
          });
          while (await this.#someOf(call, user._id, release, { session })) call.extend();
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
      while (await this.#someOf(call, user._id, release)) {
        call.extend();
        if (!(await this.#fence.stay(call, user._id, token, limits.leaseMs))) return false;
      }
      return await this.#deleteUser(call, user, token);
    } catch (error) {
      throw afterChange(error);
    }
  }

  async #rehearse(call: Call, authorId: Id, release: Decide<Post>): Promise<void> {
    const limit = limits.cascadeBatch;
    let after: Position | undefined;
    do {
      const { page, sort, hint } = pageQuery(
        postConditions({ authorId }),
        oldest,
        postPaths,
        after,
      );
      const some = await call.read((bounds) =>
        this.#posts
          .find(page, { hint, readConcern: 'local', limit, ...bounds })
          .sort(sort)
          .toArray(),
      );
      for (const post of some) released(post, release);
      const last = some.length === limit ? toVersioned<Post>(some.at(-1))?.record : undefined;
      after = last && { key: last.createdAt, id: last.id };
      call.extend();
    } while (after !== undefined);
  }

  /** Deletes or releases some of the posts. False when there are none left. */
  async #someOf(
    call: Call,
    author: Id,
    release: Decide<Post> | undefined,
    within: Within = {},
  ): Promise<boolean> {
    // Without a session as the primary has it: what the cascade itself just did, too.
    const level = within.session ? within : ({ readConcern: 'local' } as const);
    const some = await call.read((bounds) =>
      this.#posts
        .find(byAuthor(author), { ...unordered, ...level, ...bounds, limit: limits.cascadeBatch })
        .toArray(),
    );
    if (some.length === 0) return false;
    const changes = some.map((post) => (release ? released(post, release) : deleted(post)));
    await call.commit('posts', (bounds) =>
      this.#posts.bulkWrite(changes, { ordered: false, ...within, ...bounds }),
    );
    return true;
  }

  async #deleteUser(
    call: Call,
    user: StoredUser,
    token: string,
    within: Within = {},
  ): Promise<boolean> {
    const marked = { _id: user._id, 'leaving.token': token };
    const tombstone = tombstoneOf(user);
    return call.commit('user', async (bounds) => {
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

type Change = AnyBulkWriteOperation<StoredPost>;

/** Of the very version that was read: another one is met again in the next round. */
function deleted(post: StoredPost): Change {
  const { _id, version } = post as Required<StoredPost>;
  const tombstone = tombstoneOf(post);
  if (tombstone === undefined) return { deleteOne: { filter: { _id, version } } };
  return { replaceOne: { filter: { _id, version }, replacement: tombstone } };
}

function released(post: StoredPost, release: Decide<Post>): Change {
  const { _id } = post;
  const current = toVersioned<Post>(post);
  const record = current && structuredClone(release(structuredClone(current)));
  if (!current || !record || record.authorId === current.record.authorId) {
    throw new TypeError('A post that is released has to lose its author.');
  }
  const replacement = toStoredPost(record, current.version + 1, keptClaims(post));
  return { replaceOne: { filter: { _id, version: current.version }, replacement } };
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
