import type {
  CustomFilterFields,
  CustomFilters,
  NoCustomFilters,
} from '../../domain/custom-filters.ts';
import { emailKey, emailPrefixKey } from '../../domain/email.ts';
import { emailTaken, RostrumError, storeUnavailable, unknownAuthor } from '../../domain/errors.ts';
import type { Instant } from '../../domain/instant.ts';
import {
  type PostFilter,
  type PostSort,
  postSortKey,
  postSorts,
  type UserFilter,
  type UserSort,
  userSortKey,
  userSorts,
} from '../../domain/list.ts';
import { type Post, withoutAuthor } from '../../domain/post.ts';
import type { Id } from '../../domain/record.ts';
import { textKey } from '../../domain/text.ts';
import type { User } from '../../domain/user.ts';
import type { PostRepository } from '../../ports/post-repository.ts';
import type { Guard } from '../../ports/repository.ts';
import type { Store, StoreOptions } from '../../ports/store.ts';
import type { DeleteMode, Deletion, UserRepository } from '../../ports/user-repository.ts';
import { EventRing } from './event-ring.ts';
import { isWithin, type Lifetime, MemoryRepository, shown } from './repository.ts';
import { Table } from './table.ts';

/**
 * A store that keeps everything in this process's memory and forgets it when the process ends: for
 * tests and throw-away servers.
 */
export function createMemoryStore<const Filters extends CustomFilters = NoCustomFilters>(
  options?: StoreOptions<Filters>,
): Store<Filters>;
export function createMemoryStore({ customFilters = {} }: StoreOptions = {}): Store {
  const lifetime = { closed: false };
  const events = new EventRing(lifetime);
  const tables = {
    users: new Table<User, UserSort>({
      fields: ['id', ...userSorts, ...Object.keys(customFilters.users ?? {})],
      sortKey: userSortKey,
      uniqueKey: emailKeyOf,
      changed: (id, version) => events.add({ collection: 'users', id, version }),
    }),
    posts: new Table<Post, PostSort>({
      fields: ['id', 'authorId', ...postSorts, ...Object.keys(customFilters.posts ?? {})],
      sortKey: postSortKey,
      uniqueKey: () => null,
      changed: (id, version) => events.add({ collection: 'posts', id, version }),
    }),
  };
  const users = new MemoryUsers(lifetime, tables, customFilters.users);
  const posts = new MemoryPosts(lifetime, tables, customFilters.posts);
  const close = async () => {
    lifetime.closed = true;
  };
  return {
    users,
    posts,
    transfer: { users, posts },
    events,
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
  readonly users: Table<User, UserSort>;
  readonly posts: Table<Post, PostSort>;
}

class MemoryUsers extends MemoryRepository<User, UserFilter, UserSort> implements UserRepository {
  readonly #posts: Table<Post, PostSort>;

  constructor(lifetime: Lifetime, { users, posts }: Tables, customFields?: CustomFilterFields) {
    super(lifetime, users, customFields);
    this.#posts = posts;
  }

  async delete(
    id: Id,
    mode: DeleteMode,
    at: Instant,
    guard?: Guard<User>,
  ): Promise<Deletion | undefined> {
    if (!this.isToDelete(id, guard)) return undefined;
    const posts = this.#posts.filter(({ authorId }) => authorId === id).map((row) => shown(row));
    if (mode === 'refuse' && posts.length > 0) {
      throw new RostrumError('user-has-posts', { posts: posts.length });
    }
    for (const { record, version } of posts) {
      if (mode === 'delete') this.#posts.delete(record.id);
      else this.#posts.put(withoutAuthor(record, at), version + 1);
    }
    this.table.delete(id);
    return { posts: posts.length };
  }

  protected override checkConflicts(user: User): void {
    const key = emailKeyOf(user);
    const holder = key === null ? undefined : this.table.holder(key);
    if (holder !== undefined && holder !== user.id) throw emailTaken();
  }

  protected override matcher(filter: UserFilter): (user: User) => boolean {
    const { name, email, nameStartsWith, emailStartsWith } = filter;
    const holder = email === undefined ? undefined : this.table.holder(emailKey(email));
    const nameBegins = beginsWith(nameStartsWith);
    // No key begins with NUL.
    const emailPrefix = emailStartsWith && (emailPrefixKey(emailStartsWith) ?? '\0');
    const emailBegins = beginsWith(emailPrefix);
    return (user) =>
      (name === undefined || user.name === name) &&
      (email === undefined || user.id === holder) &&
      nameBegins(user.name) &&
      emailBegins(emailKeyOf(user));
  }
}

class MemoryPosts extends MemoryRepository<Post, PostFilter, PostSort> implements PostRepository {
  readonly #users: Table<User, UserSort>;

  constructor(lifetime: Lifetime, { users, posts }: Tables, customFields?: CustomFilterFields) {
    super(lifetime, posts, customFields);
    this.#users = users;
  }

  async delete(id: Id, guard?: Guard<Post>): Promise<boolean> {
    if (!this.isToDelete(id, guard)) return false;
    this.table.delete(id);
    return true;
  }

  protected override checkConflicts({ authorId }: Post): void {
    if (authorId !== null && this.#users.get(authorId) === undefined) throw unknownAuthor();
  }

  protected override matcher(filter: PostFilter): (post: Post) => boolean {
    const { title, titleStartsWith, authorId, publishedAt } = filter;
    const titleBegins = beginsWith(titleStartsWith);
    const isPublished = (at: Instant | null) =>
      publishedAt === null || at === null ? at === publishedAt : isWithin(at, publishedAt);
    return (post) =>
      (title === undefined || post.title === title) &&
      (authorId === undefined || post.authorId === authorId) &&
      (publishedAt === undefined || isPublished(post.publishedAt)) &&
      titleBegins(post.title);
  }
}

function emailKeyOf({ email }: User): string | null {
  return email === null ? null : emailKey(email);
}

/** Whether a text begins as asked, by its key. */
function beginsWith(prefix: string | undefined): (text: string | null) => boolean {
  if (prefix === undefined) return () => true;
  const key = textKey(prefix);
  return (text) => text !== null && textKey(text).startsWith(key);
}
