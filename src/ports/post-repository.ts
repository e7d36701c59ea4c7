import type { Post } from '../domain/records/post.ts';
import type { Id } from '../domain/records/record.ts';
import type { Guard, Repository } from './repository.ts';

/**
 * Stores posts. No post ever names an author who does not exist, whatever runs at the same time. An update
 * that leaves the author as it was needs no check.
 */
export interface PostRepository<R = Post> extends Repository<R> {
  /**
   * Deletes a post unless `guard` throws. The receipt of its creation stays.
   *
   * @returns false if there is no post with this id; then `guard` is not called
   */
  delete(id: Id, guard?: Guard<R>): Promise<boolean>;
}
