import {
  type CustomFilterFields,
  type DeleteMode,
  type Deletion,
  emailKey,
  type Guard,
  type Id,
  type Instant,
  RostrumError,
  type User,
  type UserFilter,
  type UserRepository,
  type UserSort,
  userSortKey,
} from 'rostrum/ports';
import type { Conditions } from './conditions.ts';
import type { Connections } from './connections.ts';
import type { PostgresqlPosts } from './posts.ts';
import { PostgresqlRepository } from './repository.ts';

export class PostgresqlUsers
  extends PostgresqlRepository<User, UserFilter, UserSort>
  implements UserRepository
{
  readonly #posts: PostgresqlPosts;

  constructor(
    connections: Connections,
    posts: PostgresqlPosts,
    customFilters?: CustomFilterFields,
  ) {
    super(connections, 'users', customFilters);
    this.#posts = posts;
  }

  async delete(
    id: Id,
    mode: DeleteMode,
    at: Instant,
    guard?: Guard<User>,
  ): Promise<Deletion | undefined> {
    return this.connections.change(async (query) => {
      // From now on no post can name the user: the reference of a new one waits for this row.
      const user = await this.lock(query, id);
      if (user === undefined) return undefined;
      guard?.(user);
      const posts = await this.#posts.lockOf(query, id);
      if (mode === 'refuse' && posts > 0) throw new RostrumError('user-has-posts', { posts });
      if (mode === 'delete') await this.#posts.deleteOf(query, id);
      if (mode === 'keep') await this.#posts.keepOf(query, id, at);
      await this.remove(query, id);
      return { posts };
    });
  }

  protected override columns(user: User) {
    const { createdAt, updatedAt, name, email } = user;
    return { createdAt, updatedAt, name, email: email === null ? null : emailKey(email) };
  }

  protected override sortKey(user: User, by: UserSort): string | null {
    return userSortKey(user, by);
  }

  protected override sortColumn(by: UserSort): string {
    return by === 'email' ? "coalesce(email, '')" : `"${by}"`;
  }

  protected override restrict(conditions: Conditions, { name, email }: UserFilter): void {
    if (name !== undefined) conditions.equal('name', name);
    if (email !== undefined) conditions.equal('email', emailKey(email));
  }
}
