import type { Refused, TokenVerifier } from '../../../ports/token-verifier.ts';
import type { Context } from '../context.ts';
import { Problem } from '../problems/problem.ts';
import { isRepeated } from '../target.ts';
import type { Authenticate } from './authenticate.ts';

/** `Authorization: Bearer` and a token (RFC 6750, section 2.1). The scheme is case-insensitive. */
const bearer = /^bearer +([\w\-.~+/]+=*) *$/i;

const malformed: Refused = { refused: 'malformed' };

/**
 * Authenticates bearer tokens in the header `Authorization`. The first verifier that knows a token identifies
 * the caller.
 */
export function bearerAuthentication(verifiers: readonly TokenVerifier[]): Authenticate {
  const authenticate: Authenticate = async (ctx: Context) => {
    const token = tokenOf(ctx);
    if (token === undefined) return ctx.headers.authorization === undefined ? undefined : malformed;
    let refused: Refused | undefined;
    for (const verifier of verifiers) {
      const result = await verifier.authenticate(token);
      if (result !== undefined && !('refused' in result)) return result;
      refused ??= result;
    }
    return refused ?? malformed;
  };
  authenticate.known = (ctx) => {
    const token = tokenOf(ctx);
    if (token === undefined) return undefined;
    for (const verifier of verifiers) {
      const caller = verifier.known?.(token);
      if (caller !== undefined) return caller;
    }
    return undefined;
  };
  return authenticate;
}

/** @throws Problem `invalid-header` */
function tokenOf({ req, headers }: Context): string | undefined {
  if (isRepeated(req, 'authorization')) {
    const message = 'The header Authorization must be given once.';
    const errors = [{ header: 'Authorization', code: 'invalid', message }];
    throw new Problem('invalid-header', message, { errors });
  }
  return bearer.exec(headers.authorization ?? '')?.[1];
}
