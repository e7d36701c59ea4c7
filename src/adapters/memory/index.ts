import { emailKey } from '../../domain/email.ts';
import { emailTaken, RostrumError, storeUnavailable, unknownAuthor } from '../../domain/errors.ts';
import type { Instant } from '../../domain/instant.ts';
import type { PostFilter, PostSort, UserFilter, UserSort } from '../../domain/list.ts';
import { type Post, withoutAuthor } from '../../domain/post.ts';
import type { Id } from '../../domain/record.ts';
import type { User } from '../../domain/user.ts';
import type { PostRepository } from '../../ports/post-repository.ts';
import type { Guard } from '../../ports/repository.ts';
import type { Store, StoreOptions } from '../../ports/store.ts';
import type { DeleteMode, UserRepository } from '../../ports/user-repository.ts';
import { type Lifetime, MemoryRepository } from './repository.ts';
import { type Row, Table } from './table.ts';

/**
 * A store that keeps everything in this process's memory and forgets it when the process ends: for
 * tests and throw-away servers.
 */
export function createMemoryStore({ customFilters = {} }: StoreOptions = {}): Store {
  const lifetime = { closed: false };
  const tables = {
    users: new Table(customFilters.users, 'email'),
    posts: new Table(customFilters.posts),
  };
  const users = new MemoryUsers(lifetime, tables);
  const posts = new MemoryPosts(lifetime, tables);
  const close = async () => {
    lifetime.closed = true;
  };
  return {
    users,
    posts,
    transfer: { users, posts },
    customFilters,
    async ready() {
      if (lifetime.closed) throw storeUnavailable('none');
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Each repository looks into the other's table. */
interface Tables {
  readonly users: Table;
  readonly posts: Table;
}

class MemoryUsers extends MemoryRepository<User, UserFilter, UserSort> implements UserRepository {
  readonly #posts: Table;

  constructor(lifetime: Lifetime, { users, posts }: Tables) {
    super(lifetime, users);
    this.#posts = posts;
  }

  async delete(id: Id, mode: DeleteMode, at: Instant, guard?: Guard<User>): Promise<boolean> {
    if (this.guarded(id, guard) === undefined) return false;
    const posts = this.#posts.filter(({ keys }) => keys.authorId === id);
    if (mode === 'refuse' && posts.length > 0) {
      throw new RostrumError('user-has-posts', { posts: posts.length });
    }
    for (const post of posts) {
      if (mode === 'delete') this.#posts.delete(post.id);
      else {
        const kept = withoutAuthor(JSON.parse(post.json), at);
        this.#posts.put(rowOfPost(kept, post.version + 1, post.own));
      }
    }
    this.table.delete(id);
    return true;
  }

  protected override checkConflicts({ id, email }: User): void {
    const holder = email === null ? undefined : this.table.holder(emailKey(email));
    if (holder !== undefined && holder !== id) throw emailTaken();
  }

  protected override rowOf(user: User, version: number): Row {
    const { id, createdAt, updatedAt, name, email } = user;
    const keys = { createdAt, updatedAt, name, email: email === null ? null : emailKey(email) };
    return { id, version, json: JSON.stringify(user), keys, own: this.table.ownKeys(user) };
  }

  protected override equalities({ name, email }: UserFilter) {
    return { name, email: email === undefined ? undefined : emailKey(email) };
  }
}

class MemoryPosts extends MemoryRepository<Post, PostFilter, PostSort> implements PostRepository {
  readonly #users: Table;

  constructor(lifetime: Lifetime, { users, posts }: Tables) {
    super(lifetime, posts);
    this.#users = users;
  }

  async delete(id: Id, guard?: Guard<Post>): Promise<boolean> {
    if (this.guarded(id, guard) === undefined) return false;
    this.table.delete(id);
    return true;
  }

  protected override checkConflicts({ authorId }: Post): void {
    if (authorId !== null && this.#users.get(authorId) === undefined) throw unknownAuthor();
  }

  protected override rowOf(post: Post, version: number): Row {
    return rowOfPost(post, version, this.table.ownKeys(post));
  }

  protected override equalities({ title, authorId }: PostFilter) {
    return { title, authorId };
  }
}

function rowOfPost(post: Post, version: number, own: Row['own']): Row {
  const { id, createdAt, updatedAt, title, authorId } = post;
  const keys = { createdAt, updatedAt, title, authorId };
  return { id, version, json: JSON.stringify(post), keys, own };
}
