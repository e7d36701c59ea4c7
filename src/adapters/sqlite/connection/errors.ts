import { DeclarationError } from '../../../domain/fields/declared-fields.ts';

/** Why a data file cannot be used. Stable within v1. */
export type SqliteStoreErrorCode =
  /** The path is empty, is `:memory:` or has a NUL, or it names the data file where a backup is expected. */
  | 'store-bad-path'
  /** The file or its folder cannot be created, opened, read or written. */
  | 'store-cannot-open'
  | 'store-not-a-database'
  /** Another program made this SQLite database. */
  | 'store-foreign-database'
  /** An earlier version of Rostrum made the file, in a layout that this one cannot read. */
  | 'store-former-layout'
  /** A newer version of Rostrum wrote the file. */
  | 'store-newer-layout'
  /** SQLite found the file damaged. */
  | 'store-damaged'
  /** The file was moved, replaced, overwritten or deleted while it was open. */
  | 'store-file-moved'
  /** Another program holds the file's lock for longer than opening waits. */
  | 'store-in-use'
  /** A setting that durability or integrity depends on did not take effect. */
  | 'store-unsafe-settings';

/** Thrown if a data file cannot be used. The message says what to do. */
export class SqliteStoreError extends Error {
  override readonly name = 'SqliteStoreError';
  readonly code: SqliteStoreErrorCode;

  constructor(code: SqliteStoreErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** Primary result codes (https://www.sqlite.org/rescode.html) that the store distinguishes. */
const resultCodes = {
  none: 0,
  busy: 5,
  readOnly: 8,
  corrupt: 11,
  full: 13,
  constraint: 19,
  notADatabase: 26,
} as const;

/**
 * Wraps an error of `node:sqlite`, its `cause`, so that it cannot be confused with an error that a `Decide` or a
 * `Guard` throws.
 */
export class DriverError extends Error {
  override readonly name = 'DriverError';

  constructor(cause: unknown) {
    super('The SQLite driver failed.', { cause });
  }
}

export function hasCode(error: unknown, ...names: (keyof typeof resultCodes)[]): boolean {
  const { cause } = error instanceof DriverError ? error : {};
  const code = cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) : -1;
  // The low byte of an extended code is its primary code.
  return code >= 0 && names.some((name) => resultCodes[name] === (code & 0xff));
}

export function openingError(file: string, cause: unknown): Error {
  if (cause instanceof SqliteStoreError || cause instanceof DeclarationError) return cause;
  if (hasCode(cause, 'notADatabase')) return notADatabase(file, cause);
  if (hasCode(cause, 'corrupt')) return damaged(file, cause);
  if (hasCode(cause, 'busy')) {
    const message = `Another program is writing to the data file ${file}: let it finish, and start again.`;
    return new SqliteStoreError('store-in-use', message, cause);
  }
  const { message: reason } = (cause instanceof DriverError ? cause.cause : cause) as Error;
  const message = `The data file ${file} cannot be opened for reading and writing (${reason}): check the permissions of the file and its folder, and that the disk is sound and not full.`;
  return new SqliteStoreError('store-cannot-open', message, cause);
}

export function notADatabase(file: string, cause?: unknown): SqliteStoreError {
  const message = `The file ${file} is not an SQLite database: choose another path.`;
  return new SqliteStoreError('store-not-a-database', message, cause);
}

export function fileMoved(file: string): SqliteStoreError {
  const message = `The data file ${file} was moved, replaced or deleted while it was open: put it back, or restart the server.`;
  return new SqliteStoreError('store-file-moved', message);
}

export function fileOverwritten(file: string): SqliteStoreError {
  const message = `The data file ${file} was overwritten with another one while it was open: restart the server to serve that one, or restore a backup (rostrum restore).`;
  return new SqliteStoreError('store-file-moved', message);
}

export function damaged(file: string, cause?: unknown): SqliteStoreError {
  const message = `The data file ${file} is damaged: restore a backup (rostrum restore).`;
  return new SqliteStoreError('store-damaged', message, cause);
}
