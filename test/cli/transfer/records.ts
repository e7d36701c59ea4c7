import type { JsonObject } from '../../../src/domain/records/json.ts';
import type { Post } from '../../../src/domain/records/post.ts';
import { type Entity, VersionedRecord } from '../../../src/domain/records/record.ts';
import type { User } from '../../../src/domain/records/user.ts';
import type { Store } from '../../../src/ports/store.ts';
import type { RecordTransfer, Transfer } from '../../../src/ports/transfer.ts';

/** A record and its version as plain values, so that they compare deeply. */
interface Plain<R> {
  readonly record: R;
  readonly version: number;
}

export interface Records {
  readonly users: readonly Plain<User>[];
  readonly posts: readonly Plain<Post>[];
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
  const times = { createdAt: at(n), updatedAt: at(n + 1), publishedAt: n % 3 === 0 ? null : at(n) };
  return { id: `p${number(n)}`, ...text, authorId: null, n, ...times, ...fields };
}

/** Users and ten times as many posts, with different versions, ordered by id. */
export function records(users: number): Records {
  return {
    users: Array.from({ length: users }, (_, n) => ({ record: user(n), version: 1 + (n % 5) })),
    posts: Array.from({ length: users * 10 }, (_, n) => {
      const authorId = n % 4 === 0 ? null : user(n % users).id;
      return { record: post(n, { authorId }), version: 1 + (n % 3) };
    }),
  };
}

export function transferOf({ transfer }: Store): Transfer {
  if (transfer === undefined) throw new Error('The store has no transfer.');
  return transfer;
}

export async function fill(store: Store, { users, posts }: Partial<Records>): Promise<void> {
  const transfer = transferOf(store);
  await load(transfer.users, users ?? []);
  await load(transfer.posts, posts ?? []);
}

async function load<R>(transfer: RecordTransfer<R>, given: readonly Plain<R>[]): Promise<void> {
  const all = given.map(({ record, version }) => new VersionedRecord(record, version));
  for (let i = 0; i < all.length; i += 500) await transfer.load(all.slice(i, i + 500));
}

/** Returns all records of a store, ordered by id. */
export async function contentOf(store: Store): Promise<Records> {
  const { users, posts } = transferOf(store);
  return { users: await all(users), posts: await all(posts) };
}

async function all<R extends Entity>(transfer: RecordTransfer<R>): Promise<Plain<R>[]> {
  const found: Plain<R>[] = [];
  for (;;) {
    const after = found.at(-1)?.record.id;
    const some = await transfer.scan({ limit: 1000, bytes: 16 * 1024 * 1024, after });
    if (some.length === 0) return found;
    found.push(...some.map(({ record, version }) => ({ record, version })));
  }
}
