import type { PostFilter, PostSort } from '../domain/list.ts';
import type { Post } from '../domain/post.ts';
import type { Id } from '../domain/record.ts';
import type { Guard, Repository } from './repository.ts';

/**
 * Keeps posts. No post ever names an author that does not exist, whatever runs at the same time:
 * `create` and `update` raise, after all else,
 *
 * - `invalid-record` with the one issue `unknown` at `/authorId` (`unknownAuthor()`): the post
 *   names an author, and no user has that id. On an update, an author that the post already has
 *   needs no check.
 */
export interface PostRepository<R = Post> extends Repository<R, PostFilter, PostSort> {
  /**
   * Deletes a post, if `guard` lets it be. A receipt that the post was made under stays.
   *
   * @returns false when there is no post with this id; then `guard` is not asked
   */
  delete(id: Id, guard?: Guard<R>): Promise<boolean>;
}
