import { unknownAuthor } from '../../domain/errors.ts';
import { type PostFilter, type PostSort, postSortKey } from '../../domain/page.ts';
import type { Post } from '../../domain/post.ts';
import type { Id } from '../../domain/record.ts';
import type { PostRepository } from '../../ports/post-repository.ts';
import type { Guard } from '../../ports/repository.ts';
import type { Connection } from './connection.ts';
import { postLists } from './list-schemes.ts';
import { SqliteRepository, type StoreParts } from './repository.ts';
import { type PostRow, postRows } from './rows.ts';

export class SqlitePostRepository
  extends SqliteRepository<Post, PostRow, PostFilter, PostSort>
  implements PostRepository
{
  constructor(parts: StoreParts) {
    super(parts, { rows: postRows, lists: postLists, sortKey: postSortKey, conflict });
  }

  delete(id: Id, guard?: Guard<Post>): Promise<boolean> {
    return this.writes.add(() => {
      const row = this.table.find(id);
      if (row === undefined) return false;
      guard?.(this.table.versioned(row));
      this.table.remove(id);
      return true;
    });
  }
}

function conflict({ author_id }: PostRow, connection: Connection): Error | undefined {
  if (author_id === null) return undefined;
  const author = connection.get('SELECT 1 FROM users WHERE id = ?', author_id);
  return author === undefined ? unknownAuthor() : undefined;
}
