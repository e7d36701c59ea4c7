import { expect } from 'chai';
import { Failure } from '../../src/cli/failure.ts';
import { errorOf } from '../support/error-of.ts';

/** The one sentence that a command ends in when it cannot do what it is asked. */
export async function failureOf(work: Promise<unknown>): Promise<string> {
  const error = await errorOf(work);
  if (error instanceof Failure) return error.message;
  return expect.fail(`it did not end in a sentence, but in: ${String(error)}`);
}
