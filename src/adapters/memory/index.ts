/** The memory store: the reference for all others. */

import { RostrumError, unknownAuthor } from '../../domain/errors.ts';
import {
  type DeclaredFields,
  fieldsIn,
  type NoDeclaredFields,
} from '../../domain/fields/declared-fields.ts';
import { checkOptions } from '../../domain/options.ts';
import type { Instant } from '../../domain/records/instant.ts';
import { type Post, withoutAuthor } from '../../domain/records/post.ts';
import type { Id } from '../../domain/records/record.ts';
import type { User } from '../../domain/records/user.ts';
import type { PostRepository } from '../../ports/post-repository.ts';
import type { Guard } from '../../ports/repository.ts';
import type { Store, StoreOptions } from '../../ports/store.ts';
import type { DeleteMode, Deletion, UserRepository } from '../../ports/user-repository.ts';
import { EventRing } from './event-ring.ts';
import { checkOpen, MemoryRepository, type State } from './repository.ts';
import { Table, versionedOf } from './table.ts';

/**
 * Creates a store in the memory of this process, which loses everything when the process ends: for tests
 * and throw-away servers.
 */
export function createMemoryStore<const Declared extends DeclaredFields = NoDeclaredFields>(
  options?: StoreOptions<Declared>,
): Store<Declared>;
export function createMemoryStore(options: StoreOptions = {}): Store {
  const { declaredFields = {} } = checkOptions<StoreOptions>(options, ['declaredFields']);
  const state: State = { isClosed: false, isFilling: false };
  const events = new EventRing();
  const onEvent = events.add.bind(events);
  const userTable = new Table<User>('users', fieldsIn(declaredFields.users), onEvent);
  const postTable = new Table<Post>('posts', fieldsIn(declaredFields.posts), onEvent);
  const users = new MemoryUsers(state, userTable, postTable);
  const posts = new MemoryPosts(state, postTable, userTable);
  const setFilling = (isFilling: boolean) => {
    checkOpen(state);
    state.isFilling = isFilling;
  };
  const close = async () => {
    state.isClosed = true;
  };
  return {
    users,
    posts,
    transfer: {
      users,
      posts,
      begin: async () => setFilling(true),
      end: async () => setFilling(false),
      async isFilling() {
        checkOpen(state);
        return state.isFilling;
      },
    },
    events: {
      async read(limit, after) {
        checkOpen(state);
        return events.read(limit, after);
      },
    },
    declaredFields,
    async undeclare(collection, name) {
      checkOpen(state);
      (collection === 'users' ? userTable : postTable).undeclare(name);
    },
    async ready() {
      checkOpen(state);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

class MemoryUsers extends MemoryRepository<User> implements UserRepository {
  readonly #posts: Table<Post>;

  constructor(state: State, users: Table<User>, posts: Table<Post>) {
    super(state, users);
    this.#posts = posts;
  }

  async delete(
    id: Id,
    mode: DeleteMode,
    at: Instant,
    guard?: Guard<User>,
  ): Promise<Deletion | undefined> {
    const user = this.rowToDelete(id, guard);
    if (user === undefined) return undefined;
    const posts = this.#posts.matching([{ field: 'authorId', op: 'eq', value: id }]);
    if (mode === 'refuse' && posts.length > 0) {
      throw new RostrumError('user-has-posts', { posts: posts.length });
    }
    for (const post of posts) {
      if (mode === 'delete') this.#posts.delete(post);
      else {
        const changed = withoutAuthor(versionedOf<Post>(post).record, at);
        this.#posts.put(this.#posts.rowOf(changed, post.version + 1));
      }
    }
    this.table.delete(user);
    return { posts: posts.length };
  }
}

class MemoryPosts extends MemoryRepository<Post> implements PostRepository {
  constructor(state: State, posts: Table<Post>, users: Table<User>) {
    super(state, posts, ({ authorId }) => {
      if (authorId !== null && users.get(authorId) === undefined) throw unknownAuthor();
    });
  }

  async delete(id: Id, guard?: Guard<Post>): Promise<boolean> {
    const post = this.rowToDelete(id, guard);
    if (post !== undefined) this.table.delete(post);
    return post !== undefined;
  }
}
