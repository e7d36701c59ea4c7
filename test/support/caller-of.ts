import type { TokenVerifier } from '../../src/adapters/http/index.ts';
import type { Caller } from '../../src/domain/access/caller.ts';

/** Returns the caller of a token, or undefined if it is rejected. */
export async function callerOf(
  verifier: TokenVerifier,
  token: string,
): Promise<Caller | undefined> {
  const judged = await verifier.authenticate(token);
  return judged === undefined || 'refused' in judged ? undefined : judged;
}
