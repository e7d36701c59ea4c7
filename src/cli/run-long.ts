import { isRostrumError } from '../domain/errors.ts';
import { Failure, refusalOf } from './failure.ts';
import { grouped } from './output.ts';

const signals = ['SIGINT', 'SIGTERM'] as const;

/** Milliseconds between two lines of progress. */
const pauseMs = 10_000;

/** Reports how much of a part of a command is done. */
export type Progress = (part: string, done: number, total?: number) => void;

/** Progress and cancellation of a long command. */
export interface LongRun {
  readonly progress: Progress;
  /** Aborted by the first signal. The same signal again ends the process. */
  readonly signal: AbortSignal;
}

/**
 * Runs a long command: shows progress, stops at the first signal, and explains failures in one sentence.
 *
 * @param next says what to do after an interruption
 */
export async function runLong<T>(
  work: (run: LongRun) => Promise<T>,
  next: () => string,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const abort = (): void => controller.abort();
  for (const name of signals) process.once(name, abort);
  const progress = createProgress(process.stderr);
  try {
    return await work({ progress, signal });
  } catch (error) {
    throw signal.aborted ? new Failure(`Interrupted: ${next()}.`) : explained(error, next());
  } finally {
    for (const name of signals) process.removeListener(name, abort);
  }
}

/** Writes a line such as `posts: 1,200 of 5,000` every ten seconds. */
export function createProgress(stream: NodeJS.WritableStream): Progress {
  let writtenAt = Date.now();
  return (part, done, total) => {
    if (Date.now() - writtenAt < pauseMs) return;
    writtenAt = Date.now();
    const of = total === undefined ? '' : ` of ${grouped(total)}`;
    stream.write(`${part}: ${grouped(done)}${of}\n`);
  };
}

function explained(error: unknown, next: string): unknown {
  const refusal = isRostrumError(error) ? refusalOf(error) : undefined;
  if (refusal !== undefined) return new Failure(refusal.message);
  if (isRostrumError(error, 'store-unavailable') || isRostrumError(error, 'overloaded')) {
    return new Failure(
      `A store stopped responding: check that it runs and has space on its disk; then ${next}.`,
    );
  }
  const isFull = error instanceof Error && 'code' in error && error.code === 'ENOSPC';
  return isFull ? new Failure(`The disk is full: free some space; then ${next}.`) : error;
}
