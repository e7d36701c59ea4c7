import type { JsonObject } from '../domain/json.ts';
import type { EntityFilter, Order } from '../domain/page.ts';
import type { Post } from '../domain/post.ts';
import type { Entity, Id } from '../domain/record.ts';
import type { User } from '../domain/user.ts';
import type { Guard, Repository } from '../ports/repository.ts';
import type { Store } from '../ports/store.ts';
import { post, user } from './fixtures.ts';

/** What the suite has to know of a kind of record to say of it what holds for both. */
export interface Kind<R extends Entity> {
  readonly name: 'users' | 'posts';
  of(store: Store): Repository<R, EntityFilter, Order<'createdAt' | 'updatedAt'>>;
  make(fields?: JsonObject): R;
  remove(store: Store, id: Id, guard?: Guard<R>): Promise<boolean>;
}

export const users: Kind<User> = {
  name: 'users',
  of: (store) => store.users,
  make: user,
  remove: (store, id, guard) => store.users.delete(id, { posts: 'refuse' }, guard),
};

export const posts: Kind<Post> = {
  name: 'posts',
  of: (store) => store.posts,
  make: post,
  remove: (store, id, guard) => store.posts.delete(id, guard),
};
