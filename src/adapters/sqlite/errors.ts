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
  /** Another store has the file open. */
  | 'store-in-use'
  /** A setting that durability or integrity rests on did not take. */
  | 'store-unsafe-settings'
  /** This Node has no SQLite. */
  | 'store-driver-missing';

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
