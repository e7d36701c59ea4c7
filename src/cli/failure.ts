import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { idTakenIssue, isRostrumError } from '../domain/errors.ts';
import type { FieldIssue } from '../domain/fields/issues.ts';
import {
  parseStoreUrl,
  redactStoreUrl,
  type StoreUrl,
  StoreUrlError,
} from '../settings/store-url.ts';

/** The exit codes that docs/operations.md lists. */
export const exitCodes = {
  failed: 1,
  /** Records are rejected. */
  rejected: 2,
  /** The code of a program ended by SIGPIPE: 128 + 13. */
  endedByPipe: 141,
} as const;

/** A failure that the user can do something about. The message is printed, without a stack. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A store URL, and the flag or variable that it comes from. */
export interface StoreSetting {
  readonly setting: string;
  readonly url: string;
}

/** @throws Failure for an invalid URL */
export function storeUrlOf(named: StoreSetting): StoreUrl {
  try {
    return parseStoreUrl(named.url);
  } catch (error) {
    throw explainOpening(error, named);
  }
}

/** A sentence about a store URL, without its password. */
export function storeFailure({ setting, url }: StoreSetting, reason: string): Failure {
  return new Failure(`${setting} is "${redactStoreUrl(url)}": ${reason}`);
}

/** Explains an error of the file system. Returns undefined for other errors. */
export function fileFailure(error: unknown): Failure | undefined {
  if (!(error instanceof Error && 'path' in error && 'code' in error)) return undefined;
  const path = String(error.path);
  if (error.code !== 'ENOENT') return new Failure(`${path} cannot be used: ${error.message}.`);
  return existsSync(dirname(path))
    ? new Failure(`There is no file ${path}.`)
    : new Failure(`There is no folder ${dirname(path)}: make it first.`);
}

/** @throws Failure if the name of a file of JSON Lines ends in something else */
export function checkJsonLinesName(what: string, path: string): void {
  if (/\.(?:jsonl|ndjson)$/i.test(path)) return;
  throw new Failure(`${what} writes JSON Lines: use a name that ends in .jsonl, not "${path}".`);
}

/** Explains an error of opening a store; returns an unexpected error as it is. */
export function explainOpening(error: unknown, store: StoreSetting): unknown {
  // Other causes have messages of the driver, which don't help users.
  const refusal = refusalOf(error);
  if (refusal !== undefined) return storeFailure(store, refusal.message);
  const isUnavailable = isRostrumError(error, 'store-unavailable');
  return isUnavailable
    ? storeFailure(store, 'it cannot be reached, or another process is migrating it.')
    : error;
}

/** The conflict with other records for which a store rejects a record. Undefined for other errors. */
export function conflictOf(error: unknown): readonly FieldIssue[] | undefined {
  if (isRostrumError(error, 'id-taken')) return [idTakenIssue];
  const hasIssues =
    isRostrumError(error, 'email-taken') ||
    isRostrumError(error, 'field-taken') ||
    isRostrumError(error, 'invalid-record');
  return hasIssues ? error.details.issues : undefined;
}

/** Why a store can't be opened until someone changes it. Undefined for errors that can pass. */
export function refusalOf(error: unknown): Error | undefined {
  const reason = isRostrumError(error, 'store-unavailable') ? error.cause : error;
  if (!(reason instanceof Error)) return undefined;
  const code = 'code' in reason && !isRostrumError(reason) ? String(reason.code) : '';
  return reason instanceof StoreUrlError || code.startsWith('store-') ? reason : undefined;
}
