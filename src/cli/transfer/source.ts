import { newestFirst } from '../../domain/list.ts';
import type { Post } from '../../domain/post.ts';
import type { Entity, Id, Versioned } from '../../domain/record.ts';
import type { User } from '../../domain/user.ts';
import type { Store } from '../../ports/store.ts';
import type { RecordTransfer, Transfer } from '../../ports/transfer.ts';
import { counted } from '../count.ts';
import { Failure } from '../failure.ts';

/** Records of one kind, in the order of their ids. */
export type Records<R extends Entity> = AsyncIterable<Versioned<R>>;

/** How many records there are. */
export interface Counts {
  readonly users: number;
  readonly posts: number;
}

export function countsText({ users, posts }: Counts): string {
  return `${counted(users, 'user')} and ${counted(posts, 'post')}`;
}

/** Where records are read from, as often as is needed. */
export interface Source {
  count(): Promise<Counts>;
  users(): Records<User>;
  posts(): Records<Post>;
}

/** What is read and loaded at once: 1 MiB of JSON text may become 22 MiB of objects (`[{},{},…`). */
export const batchLimits = { limit: 500, bytes: 1024 * 1024 };

/** @throws Failure for a store that cannot be copied */
export function transferOf({ transfer }: Store): Transfer {
  if (transfer !== undefined) return transfer;
  throw new Failure('This store can be served, but neither copied, exported nor imported.');
}

/** @param signal ends a reading between two batches */
export function storeSource(store: Store, signal: AbortSignal): Source {
  const transfer = transferOf(store);
  const one = { filter: {}, order: newestFirst, limit: 1, bytes: 1, total: true } as const;
  return {
    count: async () => ({
      users: (await store.users.list(one)).total ?? 0,
      posts: (await store.posts.list(one)).total ?? 0,
    }),
    users: () => scan(transfer.users, signal),
    posts: () => scan(transfer.posts, signal),
  };
}

async function* scan<R extends Entity>(
  transfer: RecordTransfer<R>,
  signal: AbortSignal,
): AsyncGenerator<Versioned<R>> {
  for (let after: Id | undefined; ; ) {
    signal.throwIfAborted();
    const batch = await transfer.scan({ ...batchLimits, after });
    if (batch.length === 0) return;
    yield* batch;
    after = batch.at(-1)?.record.id;
  }
}
