import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { isRostrumError } from '../domain/errors.ts';
import type { FieldIssue } from '../domain/issues.ts';
import {
  parseStoreUrl,
  redactStoreUrl,
  type StoreUrl,
  StoreUrlError,
} from '../settings/store-url.ts';

/** What a command ends with. docs/operations.md lists them for users. */
export const exitCodes = {
  failed: 1,
  /** Records are refused. */
  refused: 2,
  /** What a shell says of a program that a closed pipe has ended: 128 and the number of SIGPIPE. */
  endedByPipe: 141,
} as const;

/** A command cannot do what it was asked. The message is one sentence that says what to do. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A store, and the flag or variable that names it. */
export interface StoreSetting {
  readonly setting: string;
  readonly url: string;
}

/** @throws Failure for a URL that names no store */
export function storeUrlOf(named: StoreSetting): StoreUrl {
  try {
    return parseStoreUrl(named.url);
  } catch (error) {
    throw explainOpening(error, named);
  }
}

/** The sentence about a store that cannot be used, without its password. */
export function storeFailure({ setting, url }: StoreSetting, reason: string): Failure {
  return new Failure(`${setting} is "${redactStoreUrl(url)}": ${reason}`);
}

/**
 * Returns what a list of names means.
 *
 * @param setting the flag or variable that gave it
 * @throws Failure with the sentence that `read` throws
 */
export function checkSetting<T>(
  setting: string,
  names: readonly string[],
  read: (names: readonly string[]) => T,
): T {
  try {
    return read(names);
  } catch (error) {
    throw new Failure(`${setting} is "${names.join(',')}": ${(error as Error).message}`);
  }
}

/**
 * The sentence about a file that cannot be used; undefined for an error that is not of the file system.
 *
 * @param setting the flag that names the file, if there is one
 */
export function fileFailure(error: unknown, setting?: string): Failure | undefined {
  if (!(error instanceof Error && 'syscall' in error && 'path' in error)) return undefined;
  const path = String(error.path);
  const code = 'code' in error ? error.code : undefined;
  const another = setting === undefined ? '' : `, or name another file by ${setting}`;
  if (code !== 'ENOENT') {
    return new Failure(
      `${path} cannot be used (${code}): check its owner and permissions${another}.`,
    );
  }
  return existsSync(dirname(path))
    ? new Failure(`There is no file ${path}.`)
    : new Failure(`There is no folder ${dirname(path)}: make it first${another}.`);
}

/** Explains an error of opening a store; returns an unexpected error as it is. */
export function explainOpening(error: unknown, store: StoreSetting): unknown {
  // Only a refusal has a sentence for people; other causes have the driver's words.
  const refusal = refusalOf(error);
  if (refusal !== undefined) return storeFailure(store, refusal.message);
  const isUnavailable = isRostrumError(error, 'store-unavailable');
  return isUnavailable ? storeFailure(store, 'it cannot be reached.') : error;
}

export const idTaken = {
  pointer: '/id',
  code: 'taken',
  message: 'Another record has this id.',
} as const;

/** Why a store refuses a record because of the others; undefined for any other error. */
export function conflictOf(error: unknown): readonly FieldIssue[] | undefined {
  if (isRostrumError(error, 'id-taken')) return [idTaken];
  const hasIssues =
    isRostrumError(error, 'email-taken') ||
    isRostrumError(error, 'field-taken') ||
    isRostrumError(error, 'invalid-record');
  return hasIssues ? error.details.issues : undefined;
}

/** Why a store will never open as it is; undefined for an error that may pass. */
export function refusalOf(error: unknown): Error | undefined {
  const reason = isRostrumError(error, 'store-unavailable') ? error.cause : error;
  if (!(reason instanceof Error)) return undefined;
  const code = 'code' in reason && !isRostrumError(reason) ? String(reason.code) : '';
  return reason instanceof StoreUrlError || code.startsWith('store-') ? reason : undefined;
}
