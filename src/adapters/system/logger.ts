import { pino } from 'pino';
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
  const at = (name: 'debug' | 'info') => (fields: LogFields, message: string) => {
    const line = lineOf(name, fields, message);
    if (line === undefined) log[name](fields, message);
    else file.write(line);
  };
  const urgent = (name: 'warn' | 'error') => (fields: LogFields, message: string) => {
    log[name](fields, message);
    file.flush();
  };
  return {
    ...(log.isLevelEnabled('debug') && { debug: at('debug') }),
    info: log.isLevelEnabled('info') ? at('info') : () => {},
    warn: urgent('warn'),
    error: urgent('error'),
  };
}

/** The line that pino makes, at a third of its cost: a request has one. Undefined where only pino can. */
function lineOf(level: string, fields: LogFields, message: string): string | undefined {
  if (fields.err !== undefined) return undefined;
  try {
    return `${JSON.stringify({ level, time: systemClock.now(), ...fields, msg: message })}\n`;
  } catch {
    return undefined; // A circle, or what JSON has no form for.
  }
}
