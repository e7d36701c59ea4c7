import { isRostrumError, type Store } from '../src/index.ts';
import { authorAt, authorsOf, postAt } from './data.ts';
import { sayProgress } from './progress.ts';

const batch = 1000;

/** Puts the first posts of the data into an empty store, and their authors. */
export async function fill(store: Store, posts: number, batchesAtOnce = 8): Promise<void> {
  const authors = authorsOf(posts);
  await inBatches({ count: authors, batchesAtOnce, make: authorAt }, store.users);
  const progress = sayProgress('filling', posts);
  await inBatches({ count: posts, batchesAtOnce, make: postAt, progress }, store.posts);
}

interface Batches<T> {
  readonly count: number;
  readonly batchesAtOnce: number;
  readonly make: (n: number) => T;
  readonly progress?: (done: number) => void;
}

/** Several at a time: stores let what comes in together share a commit. */
async function inBatches<T>(
  { count, batchesAtOnce, make, progress }: Batches<T>,
  repository: { load(some: readonly T[]): Promise<void> },
): Promise<void> {
  let next = 0;
  let done = 0;
  async function work(): Promise<void> {
    while (next < count) {
      const from = next;
      next = Math.min(from + batch, count);
      const some = Array.from({ length: next - from }, (_, i) => make(from + i));
      await insist(() => repository.load(some));
      done += some.length;
      progress?.(done);
    }
  }
  await Promise.all(Array.from({ length: batchesAtOnce }, work));
}

/** A machine that is busy with other things may keep a store from being in time. */
async function insist(load: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await load();
    } catch (error) {
      if (!isRostrumError(error, 'store-unavailable') || attempt === 10) throw error;
    }
  }
}
