import { RostrumError } from '../../domain/errors.ts';
import { type Instant, latestInstant } from '../../domain/records/instant.ts';
import type { Post } from '../../domain/records/post.ts';
import type { Id } from '../../domain/records/record.ts';
import type { User } from '../../domain/records/user.ts';
import type { PostRepository } from '../../ports/post-repository.ts';
import type { Guard } from '../../ports/repository.ts';
import type { DeleteMode, Deletion, UserRepository } from '../../ports/user-repository.ts';
import { SqliteRepository } from './repository.ts';

/** The function `nextInstant` in SQL. `strftime` runs only if the clock stood still or was set back. */
const nextInstantSql = `iif(updatedAt < ?, ?, coalesce(
  strftime('%Y-%m-%dT%H:%M:%fZ', updatedAt, '+0.001 seconds'), '${latestInstant}'))`;

/**
 * The function `withoutAuthor` in SQL. `json_set` copies the text of the other members unchanged.
 *
 * `?` and not `?1`: Node 22 does not bind numbered parameters by position.
 */
const removeAuthor = `UPDATE posts SET
  authorId = NULL, version = version + 1, updatedAt = ${nextInstantSql},
  json = json_set(json, '$.authorId', NULL, '$.updatedAt', ${nextInstantSql})
  WHERE authorId = ?`;

export class SqliteUserRepository extends SqliteRepository<User> implements UserRepository {
  delete(
    id: Id,
    mode: DeleteMode,
    at: Instant,
    guard?: Guard<User>,
  ): Promise<Deletion | undefined> {
    return this.remove(id, guard, () => {
      if (mode === 'refuse') {
        const sql = 'SELECT count(*) FROM posts WHERE authorId = ?';
        const [posts] = this.connection.get<[number]>(sql, id) ?? [0];
        if (posts > 0) throw new RostrumError('user-has-posts', { posts });
        return { posts };
      }
      this.parts.events.addPostsOf(id, mode === 'delete' ? 'deleted' : 'updated');
      const [sql, values] =
        mode === 'delete'
          ? ['DELETE FROM posts WHERE authorId = ?', []]
          : [removeAuthor, [at, at, at, at]];
      return { posts: this.connection.run(sql, ...values, id) };
    });
  }
}

export class SqlitePostRepository extends SqliteRepository<Post> implements PostRepository {
  async delete(id: Id, guard?: Guard<Post>): Promise<boolean> {
    return (await this.remove(id, guard, () => true)) ?? false;
  }
}
