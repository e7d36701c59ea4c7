import { userHasPosts } from '../../domain/errors.ts';
import { type UserFilter, type UserSort, userSortKey } from '../../domain/page.ts';
import type { Post } from '../../domain/post.ts';
import type { Id } from '../../domain/record.ts';
import type { User } from '../../domain/user.ts';
import type { Decide, Guard } from '../../ports/repository.ts';
import type { PostsOfDeleted, UserRepository } from '../../ports/user-repository.ts';
import { postConflict, userConflict } from './conflicts.ts';
import { userLists } from './list-schemes.ts';
import { RecordTable } from './record-table.ts';
import { SqliteRepository, type StoreParts } from './repository.ts';
import { type PostRow, postRows, type UserRow, userRows } from './rows.ts';

/** How many posts of a deleted user are in memory at a time. */
const releasedAtOnce = 100;

export class SqliteUserRepository
  extends SqliteRepository<User, UserRow, UserFilter, UserSort>
  implements UserRepository
{
  readonly #posts: RecordTable<Post, PostRow>;

  constructor(parts: StoreParts) {
    super(parts, {
      rows: userRows,
      lists: userLists,
      sortKey: userSortKey,
      findConflict: userConflict,
    });
    this.#posts = new RecordTable(parts.connection, postRows, postConflict);
  }

  delete(id: Id, posts: PostsOfDeleted, guard?: Guard<User>): Promise<boolean> {
    return this.writes.add(() => {
      const row = this.table.find(id);
      if (row === undefined) return false;
      guard?.(this.table.versioned(row));
      if (posts.posts === 'refuse') this.#refuse(id);
      else if (posts.posts === 'keep') this.#release(id, posts.release);
      else this.connection.run('DELETE FROM posts WHERE author_id = ?', id);
      this.table.remove(id);
      return true;
    });
  }

  #refuse(id: Id): void {
    const sql = 'SELECT count(*) AS count FROM posts WHERE author_id = ?';
    const count = this.connection.get<{ count: number }>(sql, id)?.count ?? 0;
    if (count > 0) throw userHasPosts(count);
  }

  #release(id: Id, release: Decide<Post>): void {
    const sql = `SELECT * FROM posts WHERE author_id = ? LIMIT ${releasedAtOnce}`;
    for (;;) {
      const rows = this.connection.all<PostRow>(sql, id);
      if (rows.length === 0) return;
      for (const row of rows) {
        const post = release(this.#posts.versioned(row));
        if (post.authorId === id) throw new TypeError('A released post still names its author.');
        this.#posts.replace(row, post);
      }
    }
  }
}
