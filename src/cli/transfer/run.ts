import { isRostrumError } from '../../domain/errors.ts';
import { Failure } from '../failure.ts';
import { onInterruption } from '../interruption.ts';
import { createProgress, type Progress } from './progress.ts';

/** What a long command is given. */
export interface Run {
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/**
 * Runs a command that may take long: with progress, an end at the first signal, and a sentence for
 * what may go wrong on the way.
 *
 * @param again what the same command does when it is run again after that
 */
export async function run<T>(
  work: (run: Run) => Promise<T>,
  again = 'it goes on from there',
): Promise<T> {
  const { signal, stop } = onInterruption();
  const progress = await createProgress();
  try {
    return await work({ progress, signal });
  } catch (error) {
    progress.stop();
    if (signal.aborted) {
      throw new Failure(`Interrupted: run the same command again, and ${again}.`);
    }
    throw explained(error, again);
  } finally {
    progress.stop();
    stop();
  }
}

function explained(error: unknown, again: string): unknown {
  if (isRostrumError(error, 'store-unavailable') || isRostrumError(error, 'overloaded')) {
    return new Failure(
      'A store stopped answering on the way: see that it runs and has space on its disk, ' +
        `then run the same command again, and ${again}.`,
    );
  }
  // An error of the file system: it has the operation and the path in its message.
  if (error instanceof Error && 'syscall' in error && 'path' in error) {
    return new Failure(`${error.message}: see that the file is there and can be used.`);
  }
  if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') {
    return new Failure(
      'There is no space left on the disk: make some, then run the same command again.',
    );
  }
  return error;
}
