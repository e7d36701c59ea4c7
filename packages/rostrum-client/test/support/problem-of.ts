import { type AnyApiProblem, isApiProblem } from '../../src/index.ts';

/** Returns the problem with which a call fails. Throws if it succeeds or fails otherwise. */
export async function problemOf(call: Promise<unknown>): Promise<AnyApiProblem> {
  const error = await call.then(
    () => new Error('the call did not fail'),
    (reason: unknown) => reason,
  );
  if (isApiProblem(error)) return error;
  throw error;
}
