import { pino } from 'pino';
import type { LogFields, Logger } from '../../ports/logger.ts';
import { systemClock } from './clock.ts';
import { LogWriter } from './log-writer.ts';

/**
 * Writes a log to standard error; standard output is for results. A person at a terminal reads
 * lines of text, everybody else lines of JSON.
 */
export function createLogger(level: string): Logger {
  const writer = new LogWriter({ fd: 2, isTerminal: process.stderr.isTTY === true });
  const log = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${systemClock.now()}"`,
      formatters: { level: (label: string) => ({ level: label }) },
    },
    writer,
  );
  const at = (name: 'debug' | 'info') => (fields: LogFields, message: string) => {
    const members = membersOf(fields);
    if (members === undefined) log[name](fields, message);
    else writer.writeLine(lineOf(name, members, message));
  };
  return {
    ...(log.isLevelEnabled('debug') && { debug: at('debug') }),
    info: log.isLevelEnabled('info') ? at('info') : () => {},
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
  };
}

/** The fields as members of a JSON object; undefined where pino has to see to them. */
function membersOf(fields: LogFields): string | undefined {
  if (fields.err !== undefined) return undefined;
  try {
    return JSON.stringify(fields).slice(1, -1);
  } catch {
    return undefined; // A circle, or what JSON has no form for.
  }
}

/** The line that pino makes, at a third of its cost: there is one for each request. */
function lineOf(level: string, members: string, message: string): string {
  const all = members === '' ? '' : `,${members}`;
  return `{"level":"${level}","time":"${systemClock.now()}"${all},"msg":${JSON.stringify(message)}}\n`;
}
