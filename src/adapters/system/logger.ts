import { destination, pino } from 'pino';
import type { Logger } from '../../ports/logger.ts';

/**
 * Writes JSON lines to standard error; standard output is for results. Synchronous, so that the
 * last lines before an exit are not lost.
 */
export function createLogger(level: string): Logger {
  return pino({ level, base: null }, destination({ fd: 2, sync: true }));
}
