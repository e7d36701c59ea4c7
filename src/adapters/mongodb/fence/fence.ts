import type { Collection, UpdateFilter } from 'mongodb';
import type { Id } from '../../../domain/record.ts';
import type { Call } from '../connection/call.ts';
import type { Connection } from '../connection/connection.ts';
import { limits } from '../connection/limits.ts';
import { PointReads } from '../point-reads.ts';
import { asRead, type StoredPost, type StoredUser } from '../schema/documents.ts';

/**
 * Keeps posts from naming an author who does not exist, by steps of one document each, so that it
 * holds on a standalone server too. (A transaction that only reads the author would not do: two of
 * them that overlap, one deleting the user and one naming them, write different documents.)
 *
 * - A writer first marks the post as joining the user (no reader sees a new post that is pending),
 *   then looks at the user, and then makes the post name the user. That last write fails when the
 *   mark is gone. See joining.ts.
 * - A deleter first marks the user as leaving, then evicts: it removes the marks of all posts that
 *   join the user. A writer who looked at the user before has lost its mark; one who looks
 *   afterwards waits. So no more posts come to name the user. The deleter deletes or changes those
 *   that do, and then the user. That last write fails when the mark of leaving is gone.
 *
 * A mark of leaving has a lease, by the server's clock, because its deleter may have died. Clearing
 * one too early is safe: its deleter notices, and begins again.
 *
 * The marks of posts are written without waiting for a majority: when one is rolled back with a
 * primary that failed, the write that depends on it fails. All others wait.
 */
export class Fence {
  readonly #users: Collection<StoredUser>;
  readonly #posts: Collection<StoredPost>;
  readonly #authors: PointReads<StoredUser>;

  constructor(connection: Connection) {
    const { users, posts } = connection;
    this.#users = users;
    this.#posts = posts;
    this.#authors = new PointReads(connection, users, { 'record.id': 1, leaving: 1 });
  }

  /** Whether a marked post may name a user: true when the user is there and does not leave. */
  async admits(call: Call, author: Id): Promise<boolean> {
    if (!author.isWellFormed()) return false;
    for (let attempt = 0; ; attempt++) {
      const user = await call.read(() => this.#authors.read(author));
      if (user?.stored.record === undefined) return false;
      if (user.stored.leaving === undefined) return true;
      await this.outwaitLeaving(call, author, attempt);
    }
  }

  /** A step of waiting for a user's mark of leaving to go. */
  async outwaitLeaving(call: Call, _id: Id, attempt: number): Promise<void> {
    await call.pause(attempt);
    if (attempt % 4 !== 3) return; // Most marks go by themselves, and soon.
    const runOut = { $expr: { $lt: ['$leaving.until', '$$NOW'] } };
    await call.prepare('clear', (bounds) =>
      this.#users.updateOne(
        { _id, 'leaving.token': { $exists: true }, ...runOut },
        { $unset: { leaving: true } },
        bounds,
      ),
    );
  }

  /** Marks a user as leaving. False when they were changed since, or leave already. */
  async leave(call: Call, user: StoredUser, token: string): Promise<boolean> {
    const unmarked = { ...asRead(user), leaving: { $exists: false } } as object;
    const { matchedCount } = await call.prepare('leave', (bounds) =>
      this.#users.updateOne(unmarked, mark(token, limits.leaseMs), bounds),
    );
    return matchedCount === 1;
  }

  /** Lengthens the lease for a deletion that takes longer. False when the mark is gone. */
  async stay(call: Call, _id: Id, token: string): Promise<boolean> {
    const { matchedCount } = await call.prepare('lease', (bounds) =>
      this.#users.updateOne(
        { _id, 'leaving.token': token },
        mark(token, limits.cascadeLeaseMs),
        bounds,
      ),
    );
    return matchedCount === 1;
  }

  /** Takes the mark of leaving back. */
  async unleave(call: Call, _id: Id, token: string): Promise<void> {
    await call.prepare('unleave', (bounds) =>
      this.#users.updateOne({ _id, 'leaving.token': token }, { $unset: { leaving: true } }, bounds),
    );
  }

  /** Removes every mark of a post that joins this user. */
  async evict(call: Call, author: Id): Promise<void> {
    const joining = { 'joining.author': author };
    // A pending post goes as a whole; one that is inserted between the two steps meets the mark.
    const others = { ...joining, pending: { $exists: false } };
    await call.prepare('evict', async (bounds) => {
      await this.#posts.deleteMany({ ...joining, pending: true }, bounds);
      await this.#posts.updateMany(others, { $pull: { joining: { author } } }, bounds);
    });
  }
}

/** A pipeline, because only a pipeline can read the server's clock. */
function mark(token: string, ms: number): UpdateFilter<StoredUser>[] {
  return [{ $set: { leaving: { token, until: { $add: ['$$NOW', ms] } } } }] as never;
}
