import { instantFromMs } from '../../domain/instant.ts';
import type { Clock } from '../../ports/clock.ts';

let lastMs = Number.NaN;
let last = '';

/** The machine's own clock. Its text is kept for the millisecond that it says. */
export const systemClock: Clock = {
  now() {
    const ms = Date.now();
    if (ms !== lastMs) {
      lastMs = ms;
      last = instantFromMs(ms);
    }
    return last;
  },
};
