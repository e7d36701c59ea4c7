import { type PostFilter, type PostSort, postSortKey } from '../../domain/page.ts';
import type { Post } from '../../domain/post.ts';
import type { Id } from '../../domain/record.ts';
import type { PostRepository } from '../../ports/post-repository.ts';
import type { Guard } from '../../ports/repository.ts';
import { postConflict } from './conflicts.ts';
import { postLists } from './list-schemes.ts';
import { SqliteRepository, type StoreParts } from './repository.ts';
import { type PostRow, postRows } from './rows.ts';

export class SqlitePostRepository
  extends SqliteRepository<Post, PostRow, PostFilter, PostSort>
  implements PostRepository
{
  constructor(parts: StoreParts) {
    super(parts, {
      rows: postRows,
      lists: postLists,
      sortKey: postSortKey,
      findConflict: postConflict,
    });
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
