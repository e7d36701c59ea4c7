import { clearLine, cursorTo } from 'node:readline';
import { grouped } from './count.ts';

/** Shows how far a long run has come. */
export interface Progress {
  /** Begins a part of the run. The total of its steps is an estimate. */
  begin(what: string, total: number): void;
  advance(steps: number): void;
  /** Ends the part, also in its middle, and after its end. */
  end(): void;
}

/** Milliseconds between two updates: on a terminal, and in a log. */
const pauses = { terminal: 200, log: 10_000 };

/**
 * Shows `posts: 1,200 of 5,000 (24 %)`: on a terminal a line that is written over, and gone at the end of a
 * part; elsewhere a line every ten seconds, and at the end of a part that took as long. It goes to standard
 * error, because standard output is for the result.
 */
export function createProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  const { isTTY } = stream;
  const pause = isTTY ? pauses.terminal : pauses.log;
  let part = { what: '', total: 0, done: 0, writtenAt: 0, isShown: false };
  const erase = () => {
    if (!isTTY || !part.isShown) return;
    cursorTo(stream, 0);
    clearLine(stream, 0);
  };
  const write = () => {
    erase();
    const { what, done } = part;
    const total = Math.max(part.total, done, 1);
    const share = Math.floor((100 * done) / total);
    const text = `${what}: ${grouped(done)} of ${grouped(total)} (${share} %)`;
    stream.write(isTTY ? text : `${text}\n`);
    [part.writtenAt, part.isShown] = [Date.now(), true];
  };
  return {
    begin(what, total) {
      part = { what, total, done: 0, writtenAt: Date.now(), isShown: false };
    },
    advance(steps) {
      part.done += steps;
      if (Date.now() - part.writtenAt >= pause) write();
    },
    end() {
      if (isTTY) erase();
      else if (part.isShown) write();
      part.isShown = false;
    },
  };
}
