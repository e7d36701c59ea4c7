import { type AnyApiProblem, isApiProblem } from '../../src/index.ts';

/** The problem that a call ends in. @throws when it ends otherwise */
export async function problemOf(call: Promise<unknown>): Promise<AnyApiProblem> {
  const error = await call.then(
    () => new Error('the call did not fail'),
    (reason: unknown) => reason,
  );
  if (isApiProblem(error)) return error;
  throw error;
}
