import { emailKey, emailPrefixKey } from '../../domain/email.ts';
import { emailTaken, RostrumError } from '../../domain/errors.ts';
import { type Instant, latestInstant } from '../../domain/instant.ts';
import type { UserFilter, UserSort } from '../../domain/list.ts';
import type { Id } from '../../domain/record.ts';
import { textKey } from '../../domain/text.ts';
import type { User } from '../../domain/user.ts';
import type { Guard } from '../../ports/repository.ts';
import type { DeleteMode, Deletion, UserRepository } from '../../ports/user-repository.ts';
import type { SqliteEvents } from './events.ts';
import { beginsWith, type Equality, type ListScheme } from './lists/plan.ts';
import type { RowMapping } from './record-table.ts';
import { SqliteRepository, type StoreParts } from './repository.ts';

export const userScheme: RowMapping<User> & ListScheme<UserFilter, UserSort> = {
  table: 'users',
  columns: ['created_at', 'updated_at', 'email_key', 'name_key', 'name'],
  values: ({ createdAt, updatedAt, name, email }) => [
    createdAt,
    updatedAt,
    email === null ? null : emailKey(email),
    textKey(name),
    name,
  ],
  conflict({ id, email }, connection) {
    const sql = 'SELECT 1 FROM users WHERE email_key = ? AND id <> ?';
    const isTaken = email !== null && connection.get(sql, emailKey(email), id) !== undefined;
    return isTaken ? emailTaken() : undefined;
  },
  sorts: {
    createdAt: { column: 'created_at', index: 'users_created' },
    updatedAt: { column: 'updated_at', index: 'users_updated' },
    name: { column: 'name_key', index: 'users_name' },
    email: { column: 'email_sort', index: 'users_email' },
  },
  fields: { name: 'name', createdAt: 'created_at', updatedAt: 'updated_at' },
  equalities({ email, name }) {
    const found: Equality<UserSort>[] = [];
    if (email !== undefined) {
      const value = emailKey(email);
      found.push({ column: 'email_key', value, index: 'users_email_key', ordered: {} });
    }
    if (name !== undefined) {
      const [index, exactly] = ['users_name', { column: 'name', value: name }];
      const ordered = { name: index };
      found.push({ column: 'name_key', value: textKey(name), index, ordered, exactly });
    }
    return found;
  },
  spans: ({ createdAt, updatedAt, nameStartsWith, emailStartsWith }) => ({
    createdAt,
    updatedAt,
    name: beginsWith(nameStartsWith),
    // No key begins with NUL.
    email: beginsWith(emailStartsWith && (emailPrefixKey(emailStartsWith) ?? '\0')),
  }),
};

/** As `nextInstant` says it, for a post that is deprived of its author. Few have to be reckoned. */
const nextInstant = `iif(updated_at < ?, ?, coalesce(
  strftime('%Y-%m-%dT%H:%M:%fZ', updated_at, '+0.001 seconds'), '${latestInstant}'))`;

/** An author's posts in the order in which most were made, which is that of the table. */
const byAuthor = 'posts INDEXED BY posts_author_created';

/**
 * As `withoutAuthor` says it. Numbers and texts that are not set stay as they were written.
 *
 * Node 22 takes no numbered parameters by their position.
 */
const keepPosts = `UPDATE ${byAuthor} SET
  author_id = NULL, record_version = record_version + 1, updated_at = ${nextInstant},
  record = json_set(record, '$.authorId', NULL, '$.updatedAt', ${nextInstant})
  WHERE author_id = ?`;

const deletePosts = `DELETE FROM ${byAuthor} WHERE author_id = ?`;

export class SqliteUserRepository
  extends SqliteRepository<User, UserFilter, UserSort>
  implements UserRepository
{
  readonly #events: SqliteEvents;

  constructor(parts: StoreParts) {
    super(parts, userScheme);
    this.#events = parts.events;
  }

  delete(
    id: Id,
    mode: DeleteMode,
    at: Instant,
    guard?: Guard<User>,
  ): Promise<Deletion | undefined> {
    return this.remove(id, guard, () => {
      if (mode === 'refuse') return this.#refuse(id);
      this.#events.addPostsOf(id, mode === 'delete' ? 'delete' : 'update');
      const sql = mode === 'delete' ? deletePosts : keepPosts;
      const values = mode === 'delete' ? [id] : [at, at, at, at, id];
      return { posts: this.connection.run(sql, ...values) };
    });
  }

  #refuse(id: Id): Deletion {
    const sql = 'SELECT count(*) FROM posts WHERE author_id = ?';
    const posts = this.connection.get<[number]>(sql, id)?.[0] ?? 0;
    if (posts > 0) throw new RostrumError('user-has-posts', { posts });
    return { posts };
  }
}
