import { setTimeout as sleep } from 'node:timers/promises';

/** Polls until a condition is true. Throws if that takes too long. */
export async function until(
  holds: () => Promise<boolean> | boolean,
  what: string,
  ms = 20_000,
): Promise<void> {
  for (const end = Date.now() + ms; !(await holds()); await sleep(50)) {
    if (Date.now() > end) throw new Error(`Timed out after ${ms} ms: ${what}.`);
  }
}

/** Retries a call until it succeeds. */
export function untilServed(call: () => Promise<unknown>, ms?: number): Promise<void> {
  const isServed = () =>
    call().then(
      () => true,
      () => false,
    );
  return until(isServed, 'the call returns', ms);
}
