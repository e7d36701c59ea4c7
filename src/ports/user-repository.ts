import type { UserFilter, UserOrder } from '../domain/page.ts';
import type { Post } from '../domain/post.ts';
import type { Id } from '../domain/record.ts';
import type { User } from '../domain/user.ts';
import type { Decide, Guard, Repository } from './repository.ts';

/**
 * What becomes of the posts of a user who is deleted:
 *
 * - `refuse`: a user who has posts is not deleted.
 * - `delete`: they are deleted too.
 * - `keep`: each is changed by `release`, which leaves it without an author, and its version
 *   grows by one.
 */
export type PostsOfDeleted =
  | { readonly posts: 'refuse' }
  | { readonly posts: 'delete' }
  | { readonly posts: 'keep'; readonly release: Decide<Post> };

/**
 * Keeps users. No two users have the same `emailKey` (of `rostrum`); a missing address is
 * not a value, and any number of users may have none. `create` and `update` raise, after all
 * else,
 *
 * - `email-taken`: another user has an address with this key. Keys that are freed or taken in a
 *   race are judged as of the commit: one of the racers wins.
 */
export interface UserRepository extends Repository<User, UserFilter, UserOrder> {
  /**
   * Deletes a user and does with their posts what was asked for, in one atomic step. Once it has
   * returned true, no post names the user, and none ever will, whatever runs at the same time. A
   * claim that the user was made under stays. Only a store without transactions (a standalone
   * MongoDB server) may let readers see the step half done, and it says so at its start.
   *
   * `guard` is asked first, then the posts. What `guard` or `release` throws ends the call, and
   * nothing is changed.
   *
   * @returns false when there is no user with this id; then nothing is changed and nobody asked
   * @throws RostrumError `user-has-posts`, with their number: nothing is changed
   */
  delete(id: Id, posts: PostsOfDeleted, guard?: Guard<User>): Promise<boolean>;
}
