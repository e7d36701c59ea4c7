import type { Instant } from '../domain/instant.ts';
import type { UserFilter, UserSort } from '../domain/list.ts';
import type { Id } from '../domain/record.ts';
import type { User } from '../domain/user.ts';
import type { Guard, Repository } from './repository.ts';

/**
 * What becomes of the posts of a user who is deleted:
 *
 * - `refuse`: a user who has posts is not deleted.
 * - `delete`: they are deleted too.
 * - `keep`: `authorId` becomes null, and the version grows by one. `updatedAt` becomes the later of
 *   the deletion's instant and 1 ms after the old one, but no later than `latestInstant`
 *   (`withoutAuthor` says the same in code).
 */
export type DeleteMode = 'refuse' | 'delete' | 'keep';

/** What the deletion of a user did besides. */
export interface Deletion {
  /** How many posts were deleted with the user, or stay without an author. */
  readonly posts: number;
}

/**
 * Keeps users. No two users have an email address with the same `emailKey`. A missing address is not
 * a value: any number of users can have none. `create` and `update` raise, after all else,
 *
 * - `email-taken` (`emailTaken()`): another user has an address with this key. Keys that are freed
 *   or taken in a race are judged as of the commit: one of the racers wins.
 */
export interface UserRepository<R = User> extends Repository<R, UserFilter, UserSort> {
  /**
   * Deletes a user and does with their posts what the mode says, in one atomic step. Once the user
   * is gone, no post names the user, and none ever will, whatever runs at the same time. A
   * receipt that the user was made under stays. Only a store without transactions (a standalone
   * MongoDB server) may let readers see the step half done, and it says so at its start.
   *
   * `guard` is asked first, then the posts. What it throws ends the call, and nothing is changed.
   *
   * @param at when it happens
   * @returns how many posts were deleted or changed, 0 when there were none; undefined when there is
   * no user with this id, and then nothing is changed, and `guard` is not asked
   * @throws RostrumError `user-has-posts`, with their number: nothing is changed
   */
  delete(id: Id, posts: DeleteMode, at: Instant, guard?: Guard<R>): Promise<Deletion | undefined>;
}
