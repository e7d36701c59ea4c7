import { type Outcome, storeUnavailable } from '../../../domain/errors.ts';

/** Why a store could not be opened. Stable within v1. */
export type SqliteStoreErrorCode =
  /** The path is not one of a file. */
  | 'store-bad-path'
  /** The folder of the file is not there and cannot be made, or is no folder. */
  | 'store-folder-unusable'
  /** The file cannot be opened, read or written. */
  | 'store-cannot-open'
  | 'store-not-a-database'
  /** An SQLite database that another program made. */
  | 'store-foreign-database'
  /** The file was written by a newer version of this program. */
  | 'store-newer-schema'
  /** The file is of an earlier version, and has posts that cannot be what they are in this one. */
  | 'store-not-migrated'
  /** Another program writes to the file for longer than a start waits. */
  | 'store-in-use'
  /** A setting that durability or integrity rests on did not take. */
  | 'store-unsafe-settings';

/** A store that could not be opened; the message is one sentence that says what to do about it. */
export class SqliteStoreError extends Error {
  override readonly name = 'SqliteStoreError';
  readonly code: SqliteStoreErrorCode;

  constructor(code: SqliteStoreErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

export function notADatabase(file: string, cause?: unknown): SqliteStoreError {
  const message = `The file ${file} is not an SQLite database: choose another path.`;
  return new SqliteStoreError('store-not-a-database', message, { cause });
}

/** Why a data file could not be opened, as a sentence; by the result code of what was thrown. */
export function openingError(file: string, cause: unknown): SqliteStoreError {
  if (cause instanceof SqliteStoreError) return cause;
  if (isDriverError(cause, resultCode.notADatabase)) return notADatabase(file, cause);
  if (isDriverError(cause, resultCode.busy)) {
    const message = `Another program is writing to the data file ${file}: let it finish, and start again.`;
    return new SqliteStoreError('store-in-use', message, { cause });
  }
  const message = `The data file ${file} cannot be opened for reading and writing: check its permissions, and that its disk is sound and not full.`;
  return new SqliteStoreError('store-cannot-open', message, { cause });
}

/** Primary result codes (https://www.sqlite.org/rescode.html) that are told apart here. */
export const resultCode = { busy: 5, full: 13, constraint: 19, notADatabase: 26 } as const;

/**
 * What `node:sqlite` threw, as `cause`, and its primary result code.
 *
 * Everything that the driver throws becomes one of these before it meets anything else. So the
 * error of a decision or a guard is never taken for one, whatever it looks like.
 */
export class DriverError extends Error {
  override readonly name = 'DriverError';
  /** undefined for an error that SQLite has no part in. */
  readonly code: number | undefined;

  constructor(cause: unknown) {
    super('The SQLite driver failed.', { cause });
    const code = cause instanceof Error && 'errcode' in cause ? cause.errcode : undefined;
    // The low byte of an extended code is its primary one.
    this.code = typeof code === 'number' ? code & 0xff : undefined;
  }
}

/** True for what the driver threw with this result code. */
export function isDriverError(error: unknown, code: number): boolean {
  return error instanceof DriverError && error.code === code;
}

/** An error as the ports know it: what the driver threw is an unavailable store. */
export function translated(error: unknown, outcome: Outcome): unknown {
  if (error instanceof SqliteStoreError) return storeUnavailable(outcome, error);
  return error instanceof DriverError ? storeUnavailable(outcome, error.cause) : error;
}
