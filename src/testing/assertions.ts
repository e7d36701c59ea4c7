import { type ErrorCode, type ErrorDetails, isRostrumError } from '../domain/errors.ts';
import { isPlainObject } from '../domain/records/json.ts';
import type { Receipt } from '../domain/records/receipt.ts';
import type { Entity, Id, Version, Versioned } from '../domain/records/record.ts';
import type { Creation, Repository } from '../ports/repository.ts';

/** The store under test breaks a rule of the ports. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure';
}

/** @param fault what the store does wrong */
export function storeFailure(fault: string, cause?: unknown): StoreFailure {
  return new StoreFailure(`The store is wrong: ${fault}`, { cause });
}

export function fail(fault: string, cause?: unknown): never {
  throw storeFailure(fault, cause);
}

/** Returns a callback that the store must not call. */
export function uncalled(fault: string): () => never {
  return () => fail(fault);
}

/** @param fault what the store does wrong when the condition is false */
export function assert(condition: unknown, fault: string): asserts condition {
  if (!condition) fail(fault);
}

/** Compares two values deeply; the order of keys does not matter. */
export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  const difference = findDifference(actual, expected);
  if (difference === undefined) return;
  const [at, one, other] = difference;
  fail(`${what}${at && `, at ${at},`} is ${quote(one)}, expected ${quote(other)}`);
}

type Difference = readonly [at: string, actual: unknown, expected: unknown];

function findDifference(actual: unknown, expected: unknown): Difference | undefined {
  if (Object.is(actual, expected)) return undefined;
  const areLists =
    Array.isArray(actual) && Array.isArray(expected) && actual.length === expected.length;
  const areObjects =
    isPlainObject(actual) && isPlainObject(expected) && keysOf(actual) === keysOf(expected);
  if (!areLists && !areObjects) return ['', actual, expected];
  const [one, other] = [actual, expected] as Record<string, unknown>[];
  for (const key of areLists ? expected.keys() : Object.keys(expected as object)) {
    const difference = findDifference(one?.[key], other?.[key]);
    if (difference) return [`/${key}${difference[0]}`, difference[1], difference[2]];
  }
  return undefined;
}

const keysOf = (value: object) => JSON.stringify(Object.keys(value).sort());

/** Formats a value for a message; cuts out the middle of a long one. */
export function quote(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  const isJson = ['string', 'object'].includes(typeof value) && !(value instanceof Error);
  const text = isJson ? JSON.stringify(value) : String(value);
  return text.length > 300 ? `${text.slice(0, 200)}…${text.slice(-100)}`.toWellFormed() : text;
}

/** Compares what a store returned, as a value and as compact JSON, with a record and its version. */
export function expectRecord<R extends Entity>(
  actual: Versioned<R> | undefined,
  record: R,
  version: Version = 1,
  what = `the record ${quote(record.id)}`,
): void {
  assert(actual !== undefined, `${what} is missing`);
  expectEqual(`the version of ${what}`, actual.version, version);
  const { record: first } = actual;
  expectEqual(what, first, record);
  assert(actual.record === first, `"record" of ${what} is another object each time`);
  const parsed: unknown = JSON.parse(actual.json);
  expectEqual(`the json of ${what}`, parsed, record);
  expectEqual(`the compact json of ${what}`, actual.json, JSON.stringify(parsed));
}

export async function expectAbsent(
  records: Pick<Repository<Entity>, 'get'>,
  id: Id,
  what = `the record ${quote(id)}`,
): Promise<void> {
  assert((await records.get(id)) === undefined, `${what} exists`);
}

type Creator<R> = Pick<Repository<R>, 'create'>;

/** Creates a record, and expects that it is stored now. */
export async function createNew<R extends Entity>(
  records: Creator<R>,
  record: R,
  receipt?: Receipt,
  version = 1,
): Promise<void> {
  const creation = await records.create(record, receipt);
  expectRecord(creation, record, version, 'the result of create');
  expectEqual('"replayed" of a new record', creation.replayed, false);
}

/** Creates `again` under a receipt that was used before, and expects the first record. */
export async function expectReplay<R extends Entity>(
  records: Creator<R>,
  receipt: Receipt,
  record: R,
  again: R = record,
  version = 1,
): Promise<Creation<R>> {
  const creation = await records.create(again, receipt);
  expectRecord(creation, record, version, 'the result of a repeated creation');
  expectEqual('"replayed" of a repeated creation', creation.replayed, true);
  return creation;
}

/** The only issue that an error may have, by its code. */
const issuesOf: Readonly<Record<string, readonly string[]>> = {
  'invalid-record': [
    ...['/authorId unknown', '/age type', '/pages type'],
    ...['/team type', '/crew type', '/badge type'],
  ],
  'email-taken': ['/email taken'],
  'field-taken': ['/badge taken', '/code taken', '/slug taken'],
};

/** Expects that a call ends in an error of the core, and returns the error's details. */
export async function expectError<C extends ErrorCode>(
  call: Promise<unknown>,
  code: C,
): Promise<ErrorDetails[C]> {
  const [outcome] = await Promise.allSettled([call]);
  if (outcome.status === 'fulfilled') fail(`a call returned, expected the error ${code}`);
  const error: unknown = outcome.reason;
  if (!isRostrumError(error, code)) {
    fail(`a call ended in ${quote(error)}, expected the error ${code}`, error);
  }
  const { details } = error;
  if ('issues' in details) {
    const issues = details.issues.map((issue) => `${issue.pointer} ${issue.code}`);
    const expected = issuesOf[code] ?? [];
    assert(
      issues.length === 1 && expected.includes(issues[0] ?? ''),
      `the issues of ${code} are ${quote(issues)}, expected ${expected.join(' or ')}`,
    );
  }
  return details;
}

/** Expects that a call ends in exactly the error that its callback throws. */
export async function expectThrown(
  call: (callback: () => never) => Promise<unknown>,
): Promise<void> {
  const thrown = new RangeError('thrown by a callback');
  const callback = () => {
    throw thrown;
  };
  const [outcome] = await Promise.allSettled([call(callback)]);
  if (outcome.status === 'fulfilled') fail('a call returned although its callback threw');
  const error: unknown = outcome.reason;
  if (error !== thrown) fail(`a call ended in ${quote(error)}, not in its callback's error`, error);
}

/** Waits for calls that race. Returns their results, and counts their errors by code. */
export async function race<T>(
  calls: readonly Promise<T>[],
): Promise<{ returned: T[]; errors: Partial<Record<ErrorCode, number>> }> {
  const returned: T[] = [];
  const errors: Partial<Record<ErrorCode, number>> = {};
  for (const outcome of await Promise.allSettled(calls)) {
    if (outcome.status === 'fulfilled') returned.push(outcome.value);
    else if (isRostrumError(outcome.reason)) {
      const { code } = outcome.reason;
      errors[code] = (errors[code] ?? 0) + 1;
    } else throw outcome.reason;
  }
  return { returned, errors };
}

/** Changes every part of a value in place. Frozen parts stay: freezing is as good as copying. */
export function mutate(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    const part: unknown = Reflect.get(value, key);
    if (typeof part === 'object') mutate(part);
    else Reflect.set(value, key, 'mutated');
  }
  if (Array.isArray(value)) Reflect.set(value, value.length, 'mutated');
  else Reflect.set(value, 'mutated', true);
}
