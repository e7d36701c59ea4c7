import { expect } from 'chai';
import { Failure } from '../../../src/cli/failure.ts';
import { SettingError } from '../../../src/cli/setting-error.ts';

/** The sentence that a command ends with that cannot do what it is asked. */
export async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Failure || error instanceof SettingError) return error.message;
  return expect.fail(`it did not end in a sentence, but in: ${String(error)}`);
}
