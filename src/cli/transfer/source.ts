import { newestFirst } from '../../domain/list.ts';
import type { Post } from '../../domain/post.ts';
import type { Entity, Id, Versioned } from '../../domain/record.ts';
import type { User } from '../../domain/user.ts';
import type { Store } from '../../ports/store.ts';
import type { RecordTransfer, Transfer } from '../../ports/transfer.ts';
import { Failure } from '../failure.ts';
import type { Progress } from '../progress.ts';
import { type RecordKind, Summarizer, type Summary } from './summary.ts';

/** Records of one kind, in the order of their ids. */
export type Records<R extends Entity> = AsyncIterable<Versioned<R>>;

/** Where records are read from, as often as is needed. */
export interface Source {
  count(): Promise<{ readonly users: number; readonly posts: number }>;
  users(): Records<User>;
  posts(): Records<Post>;
  summarize(progress: Progress, what?: string): Promise<Summary>;
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
  const source: Source = {
    count: async () => ({
      users: (await store.users.list(one)).total ?? 0,
      posts: (await store.posts.list(one)).total ?? 0,
    }),
    users: () => scan(transfer.users, signal),
    posts: () => scan(transfer.posts, signal),
    summarize: (progress, what = 'checking source') => summarize(source, progress, what),
  };
  return source;
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

async function summarize(source: Source, progress: Progress, what: string): Promise<Summary> {
  const { users, posts } = await source.count();
  const summarizer = new Summarizer();
  const add = async (kind: RecordKind, records: Records<Entity>) => {
    for await (const stored of records) {
      summarizer.add(kind, stored);
      progress.advance(1);
    }
  };
  progress.begin(what, users + posts);
  await add('user', source.users());
  await add('post', source.posts());
  progress.end();
  return summarizer.end();
}
