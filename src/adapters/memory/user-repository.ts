import { emailKey } from '../../domain/email.ts';
import { emailTaken, userHasPosts } from '../../domain/errors.ts';
import { copyJson } from '../../domain/json.ts';
import type { UserFilter, UserSort } from '../../domain/page.ts';
import type { Post } from '../../domain/post.ts';
import type { Id } from '../../domain/record.ts';
import type { User } from '../../domain/user.ts';
import type { Guard } from '../../ports/repository.ts';
import type { PostsOfDeleted, UserRepository } from '../../ports/user-repository.ts';
import { isWanted } from './filter.ts';
import type { Lifetime } from './lifetime.ts';
import { MemoryRepository } from './repository.ts';
import type { Tables } from './tables.ts';

export class MemoryUserRepository
  extends MemoryRepository<User, UserFilter, UserSort>
  implements UserRepository
{
  readonly #tables: Tables;

  constructor(lifetime: Lifetime, tables: Tables) {
    super(lifetime, tables.users);
    this.#tables = tables;
  }

  async delete(id: Id, mode: PostsOfDeleted, guard?: Guard<User>): Promise<boolean> {
    this.lifetime.check();
    const { users, posts } = this.#tables;
    const current = users.get(id);
    if (current === undefined) return false;
    guard?.(copyJson(current));

    const theirs = posts.filter((post) => post.authorId === id);
    if (mode.posts === 'refuse' && theirs.length > 0) throw userHasPosts(theirs.length);
    // All are decided before the first is written, so that one that throws leaves all as they were.
    const kept =
      mode.posts === 'keep'
        ? theirs.map((post) => ({
            record: released(mode.release(copyJson(post)), id),
            version: post.version + 1,
          }))
        : [];
    for (const { record } of theirs) posts.delete(record.id);
    for (const { record, version } of kept) posts.put(record, version);
    users.delete(id);
    return true;
  }

  protected override checkConflicts({ id, email }: User): void {
    if (email === null) return;
    const owner = this.#tables.users.firstWith('email', emailKey(email));
    if (owner !== undefined && owner !== id) throw emailTaken();
  }

  protected override matches({ name, email }: UserFilter) {
    const key = email === undefined ? undefined : emailKey(email);
    return (user: User): boolean =>
      isWanted(name, user.name) &&
      (key === undefined || (user.email !== null && emailKey(user.email) === key));
  }
}

/** A post that still named its author would be an orphan. */
function released(post: Post, author: Id): Post {
  if (post.authorId !== author) return post;
  throw new TypeError('release has to leave the post without its author');
}
