import type { Outcome } from '../../domain/errors.ts';
import type { Connection } from './connection.ts';
import { DriverError, resultCode, translated } from './driver-error.ts';

/** A write that waits for its commit. */
export interface Write {
  /** Reads and changes; runs inside the transaction. What it throws undoes what it changed. */
  run(): unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Why a group failed, and how many writes failed with it. */
export interface GroupFailure {
  readonly error: unknown;
  readonly writes: number;
}

interface GroupLimits {
  readonly groupWrites: number;
  readonly groupText: number;
  readonly groupMs: number;
}

/**
 * Runs writes in the transaction that is open, each in a savepoint, and commits them together.
 *
 * No write hears of its end before COMMIT: not that it was made, and not why it was refused
 * either, as that may rest on another write of the group that in the end was not made.
 */
export function commitGroup(
  connection: Connection,
  next: () => Write | undefined,
  { groupWrites, groupText, groupMs }: GroupLimits,
): GroupFailure | undefined {
  const writes: Write[] = [];
  const ends: (() => void)[] = [];
  const failed = (error: unknown, outcome: Outcome): GroupFailure => {
    connection.rollBack();
    for (const write of writes) write.reject(translated(error, outcome));
    return { error, writes: writes.length };
  };

  const [textBefore, begun] = [connection.textWritten, performance.now()];
  const hasRoom = () =>
    writes.length < groupWrites &&
    connection.textWritten - textBefore < groupText &&
    performance.now() - begun < groupMs;
  while (writes.length === 0 || hasRoom()) {
    const write = next();
    if (write === undefined) break;
    writes.push(write);
    try {
      ends.push(runInSavepoint(connection, write));
    } catch (error) {
      return failed(error, 'none'); // COMMIT was never tried.
    }
  }
  try {
    connection.run('COMMIT');
  } catch (error) {
    return failed(error, outcomeOfCommit(error));
  }
  for (const end of ends) end();
  return undefined;
}

/** @throws DriverError when the whole transaction is lost */
function runInSavepoint(connection: Connection, write: Write): () => void {
  connection.run('SAVEPOINT one_write');
  try {
    const value = write.run();
    connection.run('RELEASE one_write');
    return () => write.resolve(value);
  } catch (error) {
    undo(connection, error);
    return () => write.reject(translated(error, 'none'));
  }
}

/**
 * Undoes one write. When a statement ran out of disk or memory, SQLite may have rolled back the
 * whole transaction by itself; then there is no savepoint to return to, and what it threw first
 * is the reason for all.
 */
function undo(connection: Connection, error: unknown): void {
  try {
    connection.run('ROLLBACK TO one_write');
    connection.run('RELEASE one_write');
  } catch (lost) {
    throw error instanceof DriverError ? error : lost;
  }
}

/**
 * A COMMIT that met a lock or a full disk was not made. After any other failure (a sync, above
 * all) the log may hold it, and a restart may bring it back.
 */
function outcomeOfCommit(error: unknown): Outcome {
  const code = error instanceof DriverError ? error.code : undefined;
  return code === resultCode.busy || code === resultCode.full ? 'none' : 'unknown';
}
