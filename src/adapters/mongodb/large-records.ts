import { setImmediate as nextIteration } from 'node:timers/promises';

let last: Promise<void> = Promise.resolve();

/**
 * Waits for a turn to decode or to encode a large record, which takes milliseconds. Each iteration of the event loop has
 * one turn, so that other work runs between large records.
 */
export function nextTurn(): Promise<void> {
  last = last.then(() => nextIteration());
  return last;
}
