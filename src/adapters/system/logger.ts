import { type Level, pino } from 'pino';
import type { LogFields, Logger } from '../../ports/logger.ts';
import { systemClock } from './clock.ts';
import { LogFile } from './log-file.ts';

/**
 * Writes a log to standard error; standard output is for results. A terminal gets lines of text,
 * everything else lines of JSON. Warnings and errors are written at once.
 */
export function createLogger(level: string): Logger {
  const file = new LogFile(2, process.stderr.isTTY === true);
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${systemClock.now()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const log = pino(options, file);
  const at = (name: Level) => (fields: LogFields, message: string) => log[name](fields, message);
  const urgent = (name: Level) => (fields: LogFields, message: string) => {
    log[name](fields, message);
    file.flush();
  };
  return {
    ...(log.isLevelEnabled('debug') && { debug: at('debug') }),
    info: at('info'),
    warn: urgent('warn'),
    error: urgent('error'),
  };
}
