import { unknownAuthor } from '../../domain/errors.ts';
import type { PostFilter, PostSort } from '../../domain/list.ts';
import type { Post } from '../../domain/post.ts';
import type { Id } from '../../domain/record.ts';
import type { PostRepository } from '../../ports/post-repository.ts';
import type { Guard } from '../../ports/repository.ts';
import type { Equality, ListScheme } from './lists/lists.ts';
import type { RowMapping } from './record-table.ts';
import { SqliteRepository, type StoreParts } from './repository.ts';

export const postScheme: RowMapping<Post> & ListScheme<PostFilter, PostSort> = {
  table: 'posts',
  columns: ['created_at', 'updated_at', 'author_id', 'title'],
  values: ({ createdAt, updatedAt, authorId, title }) => [createdAt, updatedAt, authorId, title],
  conflict({ authorId }, connection) {
    if (authorId === null) return undefined;
    const author = connection.get('SELECT 1 FROM users WHERE id = ?', authorId);
    return author === undefined ? unknownAuthor() : undefined;
  },
  sorts: {
    createdAt: { column: 'created_at', index: 'posts_created' },
    updatedAt: { column: 'updated_at', index: 'posts_updated' },
    title: { column: 'title', index: 'posts_title' },
  },
  fields: {
    title: 'title',
    authorId: 'author_id',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
  },
  equalities({ title, authorId }) {
    const found: Equality<PostSort>[] = [];
    if (title !== undefined) {
      const index = 'posts_title';
      found.push({ column: 'title', value: title, index, ordered: { title: index } });
    }
    if (authorId !== undefined) {
      const index = 'posts_author_created';
      const ordered = { createdAt: index, updatedAt: 'posts_author_updated' };
      const isBroad = authorId === null;
      found.push({ column: 'author_id', value: authorId, index, ordered, isBroad });
    }
    return found;
  },
};

export class SqlitePostRepository
  extends SqliteRepository<Post, PostFilter, PostSort>
  implements PostRepository
{
  constructor(parts: StoreParts) {
    super(parts, postScheme);
  }

  async delete(id: Id, guard?: Guard<Post>): Promise<boolean> {
    return (await this.remove(id, guard, () => true)) ?? false;
  }
}
