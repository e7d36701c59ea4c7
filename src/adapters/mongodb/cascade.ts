import type { ClientSession, Collection } from 'mongodb';
import { afterChange, userHasPosts } from '../../domain/errors.ts';
import type { Post } from '../../domain/post.ts';
import type { Decide } from '../../ports/repository.ts';
import type { PostsOfDeleted } from '../../ports/user-repository.ts';
import type { Call } from './call.ts';
import { CascadePosts, type Within, write } from './cascade-posts.ts';
import { tombstoneOf } from './claims.ts';
import type { Connection } from './connection.ts';
import type { StoredUser } from './documents.ts';
import { DuplicateKey, isCommitUnknown, isTransient } from './errors.ts';
import type { Fence } from './fence.ts';
import { limits } from './limits.ts';

/** The deletion of a user who is marked as leaving, and what becomes of their posts. */
export class Cascade {
  readonly #connection: Connection;
  readonly #fence: Fence;
  readonly #users: Collection<StoredUser>;
  readonly #posts: CascadePosts;

  constructor(connection: Connection, fence: Fence) {
    this.#connection = connection;
    this.#fence = fence;
    this.#users = connection.users;
    this.#posts = new CascadePosts(connection.posts);
  }

  /**
   * @returns false when it has to be begun anew, because the mark of leaving is gone
   * @throws RostrumError `user-has-posts`
   */
  async run(call: Call, user: StoredUser, token: string, wish: PostsOfDeleted): Promise<boolean> {
    await this.#fence.evict(call, user._id);
    const posts = await this.#posts.count(call, user._id);
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
          await this.#posts.pass(call, user._id, release, { session });
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
    if (release) await this.#posts.rehearse(call, user._id, release);
    try {
      // Again, because a post that was changed meanwhile is still there.
      while (await this.#posts.pass(call, user._id, release)) {
        if (!(await this.#fence.stay(call, user._id, token, limits.cascadeLeaseMs))) return false;
      }
      return await this.#deleteUser(call, user, token);
    } catch (error) {
      throw afterChange(error);
    }
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
