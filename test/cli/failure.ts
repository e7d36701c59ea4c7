import { expect } from 'chai';
import { Failure } from '../../src/cli/failure.ts';
import { errorOf } from '../support/error-of.ts';

/** Returns the message with which a command fails. */
export async function failureOf(work: Promise<unknown>): Promise<string> {
  const error = await errorOf(work);
  // The bundle of rostrum-server names its own command.
  if (error instanceof Failure) return error.message.replaceAll('rostrum-server ', 'rostrum ');
  return expect.fail(`expected a Failure, got: ${String(error)}`);
}
