import { availableParallelism } from 'node:os';

let free = availableParallelism();
const waiting: (() => void)[] = [];

/** Runs a CPU-bound job as soon as a core is free. */
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
