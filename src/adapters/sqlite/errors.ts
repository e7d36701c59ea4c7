/** Why a store could not be opened. Stable within v1. */
export type SqliteStoreErrorCode =
  /** The path is not one of a file. */
  | 'bad-path'
  /** The folder of the file is not there and cannot be made, or is no folder. */
  | 'folder-unusable'
  /** The file cannot be opened, read or written. */
  | 'cannot-open'
  | 'not-a-database'
  /** An SQLite database that another program made. */
  | 'foreign-database'
  /** The file was written by a newer version of this program. */
  | 'newer-schema'
  /** Another store has the file open. */
  | 'in-use'
  /** A setting that durability or integrity rests on did not take. */
  | 'unsafe-settings'
  /** This Node has no SQLite. */
  | 'driver-missing';

/** A store that could not be opened; the message is one sentence that says what to do about it. */
export class SqliteStoreError extends Error {
  override readonly name = 'SqliteStoreError';
  readonly code: SqliteStoreErrorCode;

  constructor(code: SqliteStoreErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
