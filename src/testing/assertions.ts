import assert from 'node:assert/strict';
import { type ErrorCode, type ErrorDetails, isRostrumError } from '../domain/errors.ts';
import type { Receipt } from '../domain/receipt.ts';
import type { Entity, Version, Versioned } from '../domain/record.ts';
import type { Creation, Repository } from '../ports/repository.ts';

/** Holds what a store gave out to a record and its version: as a value, and as JSON text. */
export function same<R extends Entity>(
  given: Versioned<R> | undefined,
  record: R,
  version: Version = 1,
  message?: string,
): void {
  assert.ok(given !== undefined, message ?? `expected the record ${record.id}, but there is none`);
  assert.equal(given.version, version, message ?? `version ${given.version}, not ${version}`);
  assert.deepEqual(given.record, record, message);
  assert.deepEqual(JSON.parse(given.json), record, message ?? 'the JSON text differs');
}

type Creator<R> = Pick<Repository<R, never, never>, 'create'>;

/** Creates a record, which has to be new. */
export async function makes<R extends Entity>(
  records: Creator<R>,
  record: R,
  receipt?: Receipt,
): Promise<Creation<R>> {
  const creation = await records.create(record, receipt);
  same(creation, record);
  assert.equal(creation.replayed, false, 'a new record is told as replayed');
  return creation;
}

/** Creates under a receipt that has to be found, and holds what it returns to the first record. */
export async function repeats<R extends Entity>(
  records: Creator<R>,
  receipt: Receipt,
  record: R,
  again: R = record,
  message?: string,
): Promise<Creation<R>> {
  const creation = await records.create(again, receipt);
  same(creation, record, 1, message);
  assert.equal(creation.replayed, true, 'a repeat is not told as one');
  return creation;
}

/** Holds a number to what was expected, and says what was counted. */
export function counts(what: string, actual: number, expected: number): void {
  assert.equal(actual, expected, `${what}: ${actual}, not ${expected}`);
}

/** The one issue that a store itself finds, where it raises an error that has issues. */
const issues: { readonly [C in ErrorCode]?: string } = {
  'invalid-record': '/authorId unknown',
  'email-taken': '/email taken',
};

/**
 * Awaits a call that has to end in an error of the core.
 *
 * @returns the error's details
 */
export async function raises<C extends ErrorCode>(
  call: Promise<unknown>,
  code: C,
): Promise<ErrorDetails[C]> {
  const [outcome] = await Promise.allSettled([call]);
  assert.ok(outcome.status === 'rejected', `expected the error ${code}, but the call returned`);
  const error: unknown = outcome.reason;
  if (!isRostrumError(error, code)) {
    assert.fail(`expected the error ${code}, but this was raised: ${String(error)}`);
  }
  const { details } = error;
  if ('issues' in details) {
    const told = details.issues.map((issue) => `${issue.pointer} ${issue.code}`);
    assert.deepEqual(told, [issues[code]], `the issues of ${code}`);
  }
  return details;
}

/** Awaits a call that has to fail with the very error that a function throws. */
export async function throwsItsError(call: (fail: () => never) => Promise<unknown>): Promise<void> {
  const error = new RangeError('refused');
  const fail = (): never => {
    throw error;
  };
  const [outcome] = await Promise.allSettled([call(fail)]);
  assert.ok(outcome.status === 'rejected', 'expected the thrown error, but the call returned');
  assert.equal(outcome.reason, error, 'expected the very error that was thrown');
}

/** What became of calls that raced: what they returned, and how many ended in which error. */
export async function race<T>(
  calls: readonly Promise<T>[],
): Promise<{ returned: T[]; raised: Partial<Record<ErrorCode, number>> }> {
  const returned: T[] = [];
  const raised: Partial<Record<ErrorCode, number>> = {};
  for (const outcome of await Promise.allSettled(calls)) {
    if (outcome.status === 'fulfilled') returned.push(outcome.value);
    else if (isRostrumError(outcome.reason)) {
      const { code } = outcome.reason;
      raised[code] = (raised[code] ?? 0) + 1;
    } else throw outcome.reason;
  }
  return { returned, raised };
}

/**
 * Changes every part of a value in place, as a careless caller might. A value that does not let
 * itself be changed (a frozen one) is as good as a copy.
 */
export function vandalize(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    const part: unknown = Reflect.get(value, key);
    if (typeof part === 'object') vandalize(part);
    else Reflect.set(value, key, 'vandalized');
  }
  if (Array.isArray(value)) Reflect.set(value, value.length, 'vandalized');
  else Reflect.set(value, 'vandalized', true);
}
