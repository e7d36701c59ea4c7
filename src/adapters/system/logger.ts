import { pino, stdTimeFunctions } from 'pino';
import type { Logger } from '../../ports/logger.ts';
import { LogWriter } from './log-writer.ts';

/**
 * Writes a log to standard error; standard output is for results. A person at a terminal reads
 * lines of text, everybody else lines of JSON.
 */
export function createLogger(level: string): Logger {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, new LogWriter({ fd: 2, isTerminal: process.stderr.isTTY === true }));
}
