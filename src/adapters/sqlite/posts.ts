import { unknownAuthor } from '../../domain/errors.ts';
import type { PostFilter, PostSort } from '../../domain/list.ts';
import type { Post } from '../../domain/post.ts';
import type { Id } from '../../domain/record.ts';
import { textKey } from '../../domain/text.ts';
import type { PostRepository } from '../../ports/post-repository.ts';
import type { Guard } from '../../ports/repository.ts';
import { beginsWith, type Equality, type ListScheme, withoutNulls } from './lists/plan.ts';
import type { RowMapping } from './record-table.ts';
import { SqliteRepository, type StoreParts } from './repository.ts';

/** Drafts have `''` in the place of `publishedAt`, as they are before all others in its order. */
const draft = '';

export const postScheme: RowMapping<Post> & ListScheme<PostFilter, PostSort> = {
  table: 'posts',
  columns: ['created_at', 'updated_at', 'published_at', 'author_id', 'title_key', 'title'],
  values: ({ createdAt, updatedAt, publishedAt, authorId, title }) => [
    createdAt,
    updatedAt,
    publishedAt ?? draft,
    authorId,
    textKey(title),
    title,
  ],
  conflict({ authorId }, connection) {
    if (authorId === null) return undefined;
    const author = connection.get('SELECT 1 FROM users WHERE id = ?', authorId);
    return author === undefined ? unknownAuthor() : undefined;
  },
  sorts: {
    createdAt: { column: 'created_at', index: 'posts_created' },
    updatedAt: { column: 'updated_at', index: 'posts_updated' },
    title: { column: 'title_key', index: 'posts_title' },
    publishedAt: { column: 'published_at', index: 'posts_published' },
  },
  fields: {
    title: 'title',
    authorId: 'author_id',
    publishedAt: `nullif(published_at, '${draft}')`,
    createdAt: 'created_at',
    updatedAt: 'updated_at',
  },
  equalities({ title, authorId, publishedAt }) {
    const found: Equality<PostSort>[] = [];
    if (title !== undefined) {
      const [index, exactly] = ['posts_title', { column: 'title', value: title }];
      const ordered = { title: index };
      found.push({ column: 'title_key', value: textKey(title), index, ordered, exactly });
    }
    if (authorId !== undefined) {
      const index = 'posts_author_created';
      const ordered = { createdAt: index, publishedAt: 'posts_author_published' };
      const isBroad = authorId === null;
      found.push({ column: 'author_id', value: authorId, index, ordered, isBroad });
    }
    if (publishedAt === null) {
      const index = 'posts_published';
      found.push({ column: 'published_at', value: draft, index, ordered: { publishedAt: index } });
    }
    return found;
  },
  spans: ({ createdAt, updatedAt, publishedAt, titleStartsWith }) => ({
    createdAt,
    updatedAt,
    title: beginsWith(titleStartsWith),
    publishedAt: withoutNulls(publishedAt ?? undefined),
  }),
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
