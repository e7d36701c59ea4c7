import type { Instant } from '../domain/instant.ts';
import type { Id } from '../domain/record.ts';
import type { User } from '../domain/user.ts';
import type { Guard, Repository } from './repository.ts';

/**
 * What happens to the posts of a user who is deleted:
 *
 * - `refuse`: a user who has posts is not deleted.
 * - `delete`: the posts are deleted too.
 * - `keep`: each post is replaced with `withoutAuthor(post, at)`, at its next version.
 */
export type DeleteMode = 'refuse' | 'delete' | 'keep';

/** The result of the deletion of a user. */
export interface Deletion {
  /** How many posts were deleted with the user, or lost their author. */
  readonly posts: number;
}

/**
 * Stores users. No two users have the same `emailKey` (`searchRow`). A missing address is not a value: any
 * number of users can have none. If another user has an address with the same key, `create` and `update`
 * throw `email-taken` (`emailTaken()`): after `id-taken`, before `field-taken`. Of calls that race for a key,
 * one wins; a key is taken or free as of the commit.
 */
export interface UserRepository<R = User> extends Repository<R> {
  /**
   * Deletes a user and handles the user's posts as the mode says, in one atomic step. Once the user is
   * gone, no post names the user, and none ever will, whatever runs at the same time. The receipt of the
   * user's creation stays.
   *
   * Calls `guard` first, then looks at the posts. If it throws, the call fails with that error and nothing
   * is changed.
   *
   * @param at the time of the deletion
   * @returns how many posts were deleted or changed; undefined if there is no user with this id, and then
   * `guard` is not called
   * @throws RostrumError `user-has-posts`, with their number; or `refused`, if the user has more posts than
   * the store can change in one step. Nothing is changed.
   */
  delete(id: Id, mode: DeleteMode, at: Instant, guard?: Guard<R>): Promise<Deletion | undefined>;
}
