import { isRostrumError } from '../domain/errors.ts';
import { Failure, fileFailure, refusalOf } from './failure.ts';
import { createProgress, type Progress } from './progress.ts';

const signals = ['SIGINT', 'SIGTERM'] as const;

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
  const progress = createProgress();
  try {
    return await work({ progress, signal });
  } catch (error) {
    throw signal.aborted ? new Failure(`Interrupted: ${next()}.`) : explained(error, next());
  } finally {
    progress.end();
    for (const name of signals) process.removeListener(name, abort);
  }
}

function explained(error: unknown, next: string): unknown {
  const refusal = isRostrumError(error) ? refusalOf(error) : undefined;
  if (refusal !== undefined) return new Failure(refusal.message);
  if (isRostrumError(error, 'store-unavailable') || isRostrumError(error, 'overloaded')) {
    return new Failure(
      `A store stopped responding: check that it runs and has space on its disk; then ${next}.`,
    );
  }
  if (!(error instanceof Error && 'code' in error)) return error;
  if (error.code === 'ENOSPC') {
    return new Failure(`The disk is full: free some space; then ${next}.`);
  }
  return fileFailure(error) ?? error;
}
