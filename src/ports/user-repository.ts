import type { Instant } from '../domain/records/instant.ts';
import type { Id } from '../domain/records/record.ts';
import type { User } from '../domain/records/user.ts';
import type { Guard, Repository } from './repository.ts';

/**
 * What happens to the posts of a user who is deleted:
 *
 * - `refuse`: a user who has posts is not deleted.
 * - `delete`: the posts are deleted too.
 * - `keep`: each post is replaced with `withoutAuthor(post, at)`, at its next version.
 */
export const deleteModes = ['refuse', 'delete', 'keep'] as const;
export type DeleteMode = (typeof deleteModes)[number];

/** The result of deleting a user. */
export interface Deletion {
  /** How many posts were deleted with the user, or lost their author. */
  readonly posts: number;
}

/**
 * Stores users. No two of them have the same `emailKey` (`searchRow`), but any number may have no address. A
 * key is taken or free as of the commit.
 */
export interface UserRepository<R = User> extends Repository<R> {
  /**
   * Deletes a user unless `guard` throws, and handles the user's posts as the mode says, in one atomic step.
   * `guard` is called before the posts are looked at. Once the user is gone, no post names the user, and none
   * ever will, whatever runs at the same time. The receipt of the user's creation stays.
   *
   * @param at the time of the deletion
   * @returns how many posts were deleted or changed; undefined if there is no user with this id, and then
   * `guard` is not called
   * @throws RostrumError `user-has-posts`: the mode is `refuse`, and the user has this number of posts
   * @throws RostrumError `refused`: the user has more posts than the store can change in one step
   */
  delete(id: Id, mode: DeleteMode, at: Instant, guard?: Guard<R>): Promise<Deletion | undefined>;
}
