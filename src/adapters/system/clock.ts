import { instantFromMs } from '../../domain/instant.ts';
import type { Clock } from '../../ports/clock.ts';

/** The machine's own clock. */
export const systemClock: Clock = { now: () => instantFromMs(Date.now()) };
