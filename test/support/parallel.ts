import { availableParallelism } from 'node:os';

let free = availableParallelism();
const waiting: (() => void)[] = [];

/** Runs a job that keeps a processor busy, as soon as there is one for it. */
export async function whenFree<T>(job: () => Promise<T>): Promise<T> {
  if (free > 0) free -= 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await job();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  }
}
