import type { Logger } from '../../ports/logger.ts';
import { destination, pino } from './peers.ts';

/**
 * Structured lines of JSON on standard error: standard output is for what a person or a script
 * reads. Synchronous, so that the last lines before an end are there.
 */
export function createLogger(level: string): Logger {
  return pino({ level, base: null }, destination({ fd: 2, sync: true }));
}
