import { unknownAuthor } from '../../domain/errors.ts';
import { copyJson } from '../../domain/json.ts';
import type { PostFilter, PostSort } from '../../domain/page.ts';
import type { Post } from '../../domain/post.ts';
import type { Id } from '../../domain/record.ts';
import type { PostRepository } from '../../ports/post-repository.ts';
import type { Guard } from '../../ports/repository.ts';
import { isWanted } from './filter.ts';
import type { Lifetime } from './lifetime.ts';
import { MemoryRepository } from './repository.ts';
import type { Tables } from './tables.ts';

export class MemoryPostRepository
  extends MemoryRepository<Post, PostFilter, PostSort>
  implements PostRepository
{
  readonly #tables: Tables;

  constructor(lifetime: Lifetime, tables: Tables) {
    super(lifetime, tables.posts);
    this.#tables = tables;
  }

  async delete(id: Id, guard?: Guard<Post>): Promise<boolean> {
    this.lifetime.check();
    const { posts } = this.#tables;
    const current = posts.get(id);
    if (current === undefined) return false;
    guard?.(copyJson(current));
    posts.delete(id);
    return true;
  }

  protected override checkConflicts({ authorId }: Post): void {
    if (authorId !== null && this.#tables.users.get(authorId) === undefined) throw unknownAuthor();
  }

  protected override matches({ title, authorId }: PostFilter) {
    return (post: Post): boolean =>
      isWanted(title, post.title) && isWanted(authorId, post.authorId);
  }
}
