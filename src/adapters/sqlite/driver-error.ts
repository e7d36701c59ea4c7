import { type Outcome, storeUnavailable } from '../../domain/errors.ts';

/** Primary result codes (https://www.sqlite.org/rescode.html) that are told apart here. */
export const resultCode = {
  error: 1,
  busy: 5,
  full: 13,
  constraint: 19,
  notADatabase: 26,
} as const;

/** The same, as better-sqlite3 names them. */
const names: readonly (readonly [prefix: string, code: number])[] = [
  ['SQLITE_ERROR', resultCode.error],
  ['SQLITE_BUSY', resultCode.busy],
  ['SQLITE_FULL', resultCode.full],
  ['SQLITE_CONSTRAINT', resultCode.constraint],
  ['SQLITE_NOTADB', resultCode.notADatabase],
];

/**
 * What a driver threw, as `cause`, and the primary result code of it.
 *
 * Everything that a driver throws becomes one of these before it meets anything else, so that the
 * error of a decision or a guard is never taken for one, whatever it looks like.
 */
export class DriverError extends Error {
  override readonly name = 'DriverError';
  /** undefined for an error that SQLite has no part in. */
  readonly code: number | undefined;

  constructor(cause: unknown) {
    super('The SQLite driver failed.', { cause });
    this.code = primaryCode(cause);
  }
}

/** True for what a driver threw with this result code. */
export function isDriverError(error: unknown, code: number): error is DriverError {
  return error instanceof DriverError && error.code === code;
}

/** An error as the ports know it: what a driver threw is an unavailable store. */
export function translated(error: unknown, outcome: Outcome): unknown {
  return error instanceof DriverError ? storeUnavailable(outcome, error.cause) : error;
}

/** The low byte of an extended code is its primary one. */
function primaryCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff;
  const name = 'code' in error ? String(error.code) : '';
  return names.find(([prefix]) => name.startsWith(prefix))?.[1];
}
