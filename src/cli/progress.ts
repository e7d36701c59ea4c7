import { clearLine, cursorTo } from 'node:readline';
import { grouped } from './count.ts';

/** Shows the progress of a long command. */
export interface Progress {
  /** Begins a part of the command. The total is an estimate. */
  begin(what: string, total: number): void;
  advance(steps: number): void;
  /** Ends the part, whether it is complete or not. Can be called twice. */
  end(): void;
}

/** Milliseconds between updates. */
const pauses = { terminal: 200, log: 10_000 };

/**
 * Shows `posts: 1,200 of 5,000 (24 %)`. On a terminal, one line is updated, and removed at the end of the
 * part. Elsewhere, a line is written every ten seconds, and at the end of a part that took longer. Writes
 * to standard error, because standard output is for the result.
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
