import type { Store } from '../src/index.ts';
import { authorAt, authorsOf, postAt } from './data.ts';
import { sayProgress } from './progress.ts';

const batch = 1000;
const batchesAtOnce = 16;

/** Puts the first posts of the data into an empty store, and their authors. */
export async function fill(store: Store, posts: number, name: string): Promise<void> {
  await inBatches(authorsOf(posts), authorAt, (some) => store.users.load(some));
  const progress = sayProgress(`filling ${name}`, posts);
  await inBatches(posts, postAt, (some) => store.posts.load(some), progress);
}

/** Several at a time: stores let what comes in together share a commit. */
async function inBatches<T>(
  count: number,
  make: (n: number) => T,
  load: (some: readonly T[]) => Promise<void>,
  progress: (done: number) => void = () => {},
): Promise<void> {
  let next = 0;
  let done = 0;
  async function work(): Promise<void> {
    while (next < count) {
      const from = next;
      next = Math.min(from + batch, count);
      const some = Array.from({ length: next - from }, (_, i) => make(from + i));
      await load(some);
      done += some.length;
      progress(done);
    }
  }
  await Promise.all(Array.from({ length: batchesAtOnce }, work));
}
