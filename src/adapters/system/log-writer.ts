import { write, writeSync } from 'node:fs';

/** How long, in milliseconds, a line waits for others: one write for all of them costs less. */
const gatherMs = 20;

/** Characters that wait at most. Beyond them lines are dropped and counted, and requests go on. */
const maxWaiting = 4 * 1024 * 1024;

/** Pino's number of the level: warnings and what is worse are written at once. */
const warnLevel = 40;

/** Asks pino to set `lastLevel` before each line. */
const wantsLevel: unique symbol = Symbol.for('pino.metadata');

export interface LogWriterOptions {
  /** The file descriptor that is written to. */
  readonly fd: number;
  /** Whether a person reads it. */
  readonly isTerminal: boolean;
}

/** Writers with lines that wait. One listener for all: a program may make many logs. */
const unwritten = new Set<LogWriter>();
process.on('exit', () => {
  for (const writer of unwritten) writer.writeRest();
});

/**
 * Takes lines of a log and writes them in batches, without blocking the event loop. A log that
 * cannot be written (a full disk, a closed pipe) never ends the process: it says later how many
 * lines were lost. At the exit of the process the rest is written; `kill -9` loses the last lines.
 */
export class LogWriter {
  readonly [wantsLevel] = true;
  lastLevel = 0;
  readonly #fd: number;
  readonly #isTerminal: boolean;
  #waiting = '';
  #lines = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;
  #isWriting = false;
  /** What a pipe whose reader is slow did not take yet. */
  #refused: Buffer | undefined;

  constructor({ fd, isTerminal }: LogWriterOptions) {
    this.#fd = fd;
    this.#isTerminal = isTerminal;
  }

  /** Takes a line that was made without pino and is no warning. */
  writeLine(line: string): void {
    this.lastLevel = 0;
    this.write(line);
  }

  write(line: string): void {
    if (this.#waiting.length > maxWaiting) {
      this.#dropped += 1;
      return;
    }
    this.#waiting += this.#isTerminal ? readable(line) : line;
    this.#lines += 1;
    unwritten.add(this);
    if (this.lastLevel >= warnLevel) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), gatherMs);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isWriting || this.#waiting === '') return;
    const bytes = Buffer.from(this.#waiting);
    const lines = this.#lines;
    this.#waiting = '';
    this.#lines = 0;
    unwritten.delete(this);
    this.#isWriting = true;
    this.#write(bytes, lines);
  }

  #write(bytes: Buffer, lines: number): void {
    this.#refused = undefined;
    write(this.#fd, bytes, (error, written) => {
      const isFull = error !== null && error.code === 'EAGAIN';
      if (isFull) {
        // A pipe whose reader is slow: the same again, a moment later, unless the process ends.
        this.#refused = bytes;
        unwritten.add(this);
        setTimeout(() => this.#write(bytes, lines), gatherMs).unref();
        return;
      }
      if (error === null && written < bytes.length) {
        this.#write(bytes.subarray(written), lines);
        return;
      }
      this.#isWriting = false;
      if (error !== null) this.#dropped += lines;
      else this.#reportDropped();
      if (this.#waiting !== '') this.#timer ??= setTimeout(() => this.#flush(), gatherMs);
    });
  }

  #reportDropped(): void {
    if (this.#dropped === 0) return;
    const [time, dropped] = [new Date().toISOString(), this.#dropped];
    const line = { level: 'warn', time, dropped, msg: 'Lines of the log were lost.' };
    this.#dropped = 0;
    this.write(`${JSON.stringify(line)}\n`);
  }

  /** Writes what waits before the process ends. */
  writeRest(): void {
    try {
      if (this.#refused !== undefined) writeSync(this.#fd, this.#refused);
      writeSync(this.#fd, this.#waiting);
    } catch {
      // Nobody is left who could be told.
    }
    this.#waiting = '';
  }
}

/** A line of JSON as a person reads it: time, level, message, and the other members. */
function readable(line: string): string {
  const { level, time, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const members = Object.entries(rest).map(([name, value]) => `${name}=${shown(value)}`);
  const stack = isObject(err) && typeof err.stack === 'string' ? `\n${err.stack}` : '';
  const head = `${String(time).slice(11, 23)} ${String(level).toUpperCase().padEnd(5)} ${String(msg)}`;
  return `${[head, ...members].join(' ')}${stack}\n`;
}

/** A value without what a client could make a terminal do, or pass off as another member. */
function shown(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[!#-~]+$/.test(value);
  return isPlain ? value : JSON.stringify(value).replace(/[^ -~]/gu, escaped);
}

function escaped(character: string): string {
  return /\p{C}|\p{Z}/u.test(character)
    ? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
    : character;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
