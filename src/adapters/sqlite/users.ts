import { RostrumError } from '../../domain/errors.ts';
import { type Instant, latestInstant } from '../../domain/instant.ts';
import type { Id } from '../../domain/record.ts';
import type { User } from '../../domain/user.ts';
import type { Guard } from '../../ports/repository.ts';
import type { DeleteMode, Deletion, UserRepository } from '../../ports/user-repository.ts';
import type { Connection } from './connection/connection.ts';
import type { SqliteEvents } from './events.ts';
import type { Records } from './records.ts';
import { SqliteRepository, type StoreParts } from './repository.ts';

/** As `nextInstant` computes it: the function `strftime` runs only where a clock has stepped back. */
const nextInstant = `iif(updatedAt < ?, ?, coalesce(
  strftime('%Y-%m-%dT%H:%M:%fZ', updatedAt, '+0.001 seconds'), '${latestInstant}'))`;

/**
 * As `withoutAuthor` makes it. Numbers and texts that are not set stay as they were written.
 *
 * `?` and not `?1`: Node 22 takes no numbered parameters by their position.
 */
const keepPosts = `UPDATE posts SET
  authorId = NULL, version = version + 1, updatedAt = ${nextInstant},
  json = json_set(json, '$.authorId', NULL, '$.updatedAt', ${nextInstant})
  WHERE authorId = ?`;

export class SqliteUserRepository extends SqliteRepository<User> implements UserRepository {
  readonly #connection: Connection;
  readonly #events: SqliteEvents;

  constructor(parts: StoreParts, records: Records<User>, events: SqliteEvents) {
    super(parts, records);
    this.#connection = parts.file.connection;
    this.#events = events;
  }

  delete(
    id: Id,
    mode: DeleteMode,
    at: Instant,
    guard?: Guard<User>,
  ): Promise<Deletion | undefined> {
    return this.remove(id, guard, () => {
      if (mode === 'refuse') return this.#refuse(id);
      this.#events.addPostsOf(id, mode === 'delete' ? 'deleted' : 'updated');
      const posts =
        mode === 'delete'
          ? this.#connection.run('DELETE FROM posts WHERE authorId = ?', id)
          : this.#connection.run(keepPosts, at, at, at, at, id);
      return { posts };
    });
  }

  #refuse(id: Id): Deletion {
    const sql = 'SELECT count(*) FROM posts WHERE authorId = ?';
    const posts = this.#connection.get<[number]>(sql, id)?.[0] ?? 0;
    if (posts > 0) throw new RostrumError('user-has-posts', { posts });
    return { posts };
  }
}
