import type { JsonObject } from '../../../src/domain/json.ts';
import type { Post } from '../../../src/domain/post.ts';
import type { Entity, Versioned } from '../../../src/domain/record.ts';
import type { User } from '../../../src/domain/user.ts';
import type { Repository } from '../../../src/ports/repository.ts';
import type { Store } from '../../../src/ports/store.ts';

export interface Records {
  readonly users: readonly Versioned<User>[];
  readonly posts: readonly Versioned<Post>[];
}

const at = (n: number) => new Date(Date.UTC(2020, 0, 1) + n * 1001).toISOString();
const number = (n: number) => String(n).padStart(7, '0');

export function user(n: number, fields: JsonObject = {}): User {
  const own = { own: { n, 'a.$b': [n, null, { deep: `～${n}😀` }] } };
  const email = n % 3 === 0 ? null : `User.${n}@example.com`;
  const times = { createdAt: at(n), updatedAt: at(n * 2) };
  return { id: `u${number(n)}`, name: `User ${n}`, email, ...own, ...times, ...fields };
}

export function post(n: number, fields: JsonObject = {}): Post {
  const text = { title: `Post ${n}`, body: 'text '.repeat(n % 40) };
  const times = { createdAt: at(n), updatedAt: at(n + 1) };
  return { id: `p${number(n)}`, ...text, authorId: null, n, ...times, ...fields };
}

/** Users and ten times as many posts, at many versions; by id. */
export function records(users: number): Records {
  return {
    users: Array.from({ length: users }, (_, n) => ({ record: user(n), version: 1 + (n % 5) })),
    posts: Array.from({ length: users * 10 }, (_, n) => {
      const authorId = n % 4 === 0 ? null : user(n % users).id;
      return { record: post(n, { authorId }), version: 1 + (n % 3) };
    }),
  };
}

export async function fill({ users, posts }: Store, given: Records): Promise<void> {
  for (let i = 0; i < given.users.length; i += 500) await users.load(given.users.slice(i, i + 500));
  for (let i = 0; i < given.posts.length; i += 500) await posts.load(given.posts.slice(i, i + 500));
}

/** All that a store holds, by id. */
export async function contentOf({ users, posts }: Store): Promise<Records> {
  return { users: await all(users), posts: await all(posts) };
}

async function all<R extends Entity>(
  repository: Pick<Repository<R, never, never>, 'scan'>,
): Promise<Versioned<R>[]> {
  const found: Versioned<R>[] = [];
  for (;;) {
    const some = await repository.scan(1000, found.at(-1)?.record.id);
    if (some.length === 0) return found;
    found.push(...some);
  }
}
