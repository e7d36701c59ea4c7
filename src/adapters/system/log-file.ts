import { write, writeSync } from 'node:fs';

/** How long a line waits for others, in milliseconds: one write for all of them costs less. */
const gatherMs = 20;

/** The maximum number of buffered characters. Beyond it, lines are dropped and requests go on. */
const maxWaiting = 4 * 1024 * 1024;

/** Files with buffered lines. They share one exit listener. */
const unwritten = new Set<LogFile>();
process.on('exit', () => {
  for (const file of unwritten) file.writeRest();
});

/**
 * Collects the lines of a log and writes them without blocking the event loop. A log that cannot be
 * written (a full disk, a closed or unread pipe) neither stops the process nor delays its exit.
 * Buffered lines are written at exit; `kill -9` loses the last ones.
 *
 * pino's own destination doesn't do that: at exit, it retries a failing write forever.
 */
export class LogFile {
  readonly #fd: number;
  readonly #isTerminal: boolean;
  #waiting = '';
  #timer: NodeJS.Timeout | undefined;
  #isWriting = false;
  /** What a pipe has not accepted yet. */
  #refused: Uint8Array | undefined;

  constructor(fd: number, isTerminal: boolean) {
    this.#fd = fd;
    this.#isTerminal = isTerminal;
  }

  write(line: string): void {
    if (this.#waiting.length > maxWaiting) return;
    this.#waiting += this.#isTerminal ? readable(line) : line;
    unwritten.add(this);
    this.#timer ??= setTimeout(() => this.flush(), gatherMs);
  }

  /** Writes the buffered lines now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isWriting || this.#waiting === '') return;
    const bytes = Buffer.from(this.#waiting);
    this.#waiting = '';
    this.#write(bytes);
  }

  #write(bytes: Uint8Array): void {
    this.#isWriting = true;
    this.#refused = undefined;
    write(this.#fd, bytes, (error, written) => {
      if (error?.code === 'EAGAIN') {
        this.#refused = bytes;
        setTimeout(() => this.#write(bytes), gatherMs).unref();
      } else if (error === null && written < bytes.length) {
        this.#write(bytes.subarray(written));
      } else {
        this.#isWriting = false;
        if (this.#waiting !== '') this.#timer ??= setTimeout(() => this.flush(), gatherMs);
      }
    });
  }

  /** Writes the buffered lines before the process exits. */
  writeRest(): void {
    try {
      if (this.#refused !== undefined) writeSync(this.#fd, this.#refused);
      writeSync(this.#fd, this.#waiting);
    } catch {
      // The log cannot be written, and the process is exiting.
    }
  }
}

/**
 * Formats a line of JSON for people: time, level, request, message, and the other members;
 * ids come last, because they are needed least often.
 */
export function readable(line: string): string {
  const { level, time, method, path, msg, requestId, traceId, err, ...rest } = JSON.parse(
    line,
  ) as Record<string, unknown>;
  const members = Object.entries({ ...rest, requestId, traceId })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${shown(value)}`);
  const asked = [method, path].filter((part) => part !== undefined).map(shown);
  const stack = isObject(err) && typeof err.stack === 'string' ? `\n${err.stack}` : '';
  const head = [String(time).slice(11, 23), String(level).toUpperCase().padEnd(5), ...asked, msg];
  return `${[...head, ...members].join(' ')}${stack}\n`;
}

/** Escapes a value, so that a client can't inject terminal sequences or fake other members. */
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
