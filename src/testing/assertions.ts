import { type ErrorCode, type ErrorDetails, isRostrumError } from '../domain/errors.ts';
import { isPlainObject } from '../domain/json.ts';
import type { Receipt } from '../domain/receipt.ts';
import type { Entity, Id, Version, Versioned } from '../domain/record.ts';
import type { Creation, Repository } from '../ports/repository.ts';
import type { Store, StoreOptions } from '../ports/store.ts';

/** A promise of the ports that the store under test does not keep. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure';
}

/** @param fault what the store does wrong, as a sentence */
export function fail(fault: string, cause?: unknown): never {
  throw new StoreFailure(`The store is wrong: ${fault}`, { cause });
}

/** @param fault what the store does wrong where the condition does not hold */
export function check(condition: unknown, fault: string): asserts condition {
  if (!condition) fail(fault);
}

/** Holds a value to the right one, down to its last part; the order of keys is free. */
export function is(what: string, given: unknown, right: unknown): void {
  const difference = differenceOf(given, right);
  if (difference === undefined) return;
  const [at, one, other] = difference;
  fail(`${what}${at && `, at ${at},`} is ${textOf(one)}, where ${textOf(other)} is right`);
}

type Difference = readonly [at: string, given: unknown, right: unknown];

function differenceOf(given: unknown, right: unknown): Difference | undefined {
  if (Object.is(given, right)) return undefined;
  const areLists = Array.isArray(given) && Array.isArray(right) && given.length === right.length;
  const areObjects =
    isPlainObject(given) && isPlainObject(right) && keysOf(given) === keysOf(right);
  if (!areLists && !areObjects) return ['', given, right];
  const [one, other] = [given, right] as Record<string, unknown>[];
  for (const key of areLists ? right.keys() : Object.keys(right as object)) {
    const difference = differenceOf(one?.[key], other?.[key]);
    if (difference) return [`/${key}${difference[0]}`, difference[1], difference[2]];
  }
  return undefined;
}

const keysOf = (value: object) => JSON.stringify(Object.keys(value).sort());

/** Holds a store to the custom filters that it was opened with. */
export function offers({ customFilters }: Store, right: StoreOptions['customFilters']): void {
  is('customFilters, which the core takes the filters that it offers from,', customFilters, right);
}

/** A value as a message shows it: a long one is cut in the middle. */
export function textOf(value: unknown): string {
  const isOdd = !['string', 'object'].includes(typeof value) || value instanceof Error;
  const text = isOdd ? String(value) : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 200)}…${text.slice(-100)}`.toWellFormed() : text;
}

/** Holds what a store gave out to a record and its version: as a value, and as JSON text. */
export function same<R extends Entity>(
  given: Versioned<R> | undefined,
  record: R,
  version: Version = 1,
  what = `the record ${textOf(record.id)}`,
): void {
  check(given !== undefined, `${what} is not there`);
  is(`version of ${what}`, given.version, version);
  is(what, given.record, record);
  is(`json of ${what}`, JSON.parse(given.json), record);
}

/** Holds an id to name no record. */
export async function absent(
  records: Pick<Repository<Entity, never, never>, 'get'>,
  id: Id,
  what = `the record ${textOf(id)}`,
): Promise<void> {
  check((await records.get(id)) === undefined, `${what} is there`);
}

type Creator<R> = Pick<Repository<R, never, never>, 'create'>;

/** Creates a record, which has to be new. */
export async function makes<R extends Entity>(
  records: Creator<R>,
  record: R,
  receipt?: Receipt,
): Promise<Creation<R>> {
  const creation = await records.create(record, receipt);
  same(creation, record, 1, 'what create returned');
  is('replayed of a new record', creation.replayed, false);
  return creation;
}

/** Creates under a receipt that has to be found, and holds what it returns to the first record. */
export async function repeats<R extends Entity>(
  records: Creator<R>,
  receipt: Receipt,
  record: R,
  again: R = record,
  what = `the record under the key ${textOf(receipt.key)}`,
): Promise<Creation<R>> {
  const creation = await records.create(again, receipt);
  same(creation, record, 1, what);
  is('replayed of a repeat', creation.replayed, true);
  return creation;
}

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
  if (outcome.status === 'fulfilled') fail(`a call returned that has to end in ${code}`);
  const error: unknown = outcome.reason;
  if (!isRostrumError(error, code)) {
    fail(`a call that has to end in ${code} ended in ${textOf(error)}`, error);
  }
  const { details } = error;
  if ('issues' in details) {
    const told = details.issues.map((issue) => `${issue.pointer} ${issue.code}`);
    is(`issues of ${code}`, told, [code === 'email-taken' ? '/email taken' : '/authorId unknown']);
  }
  return details;
}

/** Awaits a call that has to fail with the very error that a function throws. */
export async function throwsItsError(call: (fail: () => never) => Promise<unknown>): Promise<void> {
  const refusal = new RangeError('refused');
  const refuse = (): never => {
    throw refusal;
  };
  const [outcome] = await Promise.allSettled([call(refuse)]);
  if (outcome.status === 'fulfilled')
    fail('a call returned, though a function of its caller threw');
  const error: unknown = outcome.reason;
  if (error !== refusal) fail(`a call ended in ${textOf(error)}, not in what was thrown`, error);
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
