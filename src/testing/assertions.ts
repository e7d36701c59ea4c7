import assert from 'node:assert/strict';
import { type ErrorCode, type ErrorDetails, isRostrumError } from '../domain/errors.ts';

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
  if (outcome.status === 'rejected') {
    if (isRostrumError(outcome.reason, code)) return outcome.reason.details;
    assert.fail(`expected the error ${code}, but this was raised: ${String(outcome.reason)}`);
  }
  assert.fail(`expected the error ${code}, but the call returned`);
}

/** Awaits a call that has to fail with this very error, which a decision or a guard threw. */
export async function throwsThis(call: Promise<unknown>, error: Error): Promise<void> {
  const [outcome] = await Promise.allSettled([call]);
  assert.ok(outcome.status === 'rejected', 'expected the thrown error, but the call returned');
  assert.equal(outcome.reason, error, 'expected the very error that was thrown');
}

export async function raisesUnknownAuthor(call: Promise<unknown>): Promise<void> {
  const { issues } = await raises(call, 'invalid-record');
  assert.deepEqual(pointersAndCodes(issues), [['/authorId', 'unknown']]);
}

export async function raisesEmailTaken(call: Promise<unknown>): Promise<void> {
  const { issues } = await raises(call, 'email-taken');
  assert.deepEqual(pointersAndCodes(issues), [['/email', 'taken']]);
}

/** What became of calls that raced: what they returned, and the codes of what they raised. */
export async function race<T>(
  calls: readonly Promise<T>[],
): Promise<{ returned: T[]; raised: ErrorCode[] }> {
  const returned: T[] = [];
  const raised: ErrorCode[] = [];
  for (const outcome of await Promise.allSettled(calls)) {
    if (outcome.status === 'fulfilled') returned.push(outcome.value);
    else if (isRostrumError(outcome.reason)) raised.push(outcome.reason.code);
    else throw outcome.reason;
  }
  return { returned, raised };
}

function pointersAndCodes(issues: ErrorDetails['invalid-record']['issues']): [string, string][] {
  return issues.map(({ pointer, code }) => [pointer, code]);
}
