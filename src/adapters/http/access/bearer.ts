import type { Context } from 'koa';
import type { Caller } from '../../../domain/caller.ts';
import { isThenable } from '../../../domain/options.ts';
import { countHeader } from '../headers/count.ts';
import type { Authenticate } from '../options.ts';
import { Problem } from '../problems/problem.ts';
import { parseQuery } from '../request/query.ts';

/** Turns a bearer token into a caller; undefined for a token that is not valid. */
export interface TokenVerifier {
  authenticate(token: string): Caller | undefined | Promise<Caller | undefined>;
}

/** `Authorization: Bearer` and a token (RFC 6750, section 2.1). The scheme is in any case. */
const bearer = /^bearer +([\w\-.~+/]+=*) *$/i;

/** The query parameter that RFC 6750, section 2.3 has for a token: logs would keep it. */
const queryName = 'access_token';

/** Takes bearer tokens from the header `Authorization` alone; the first verifier that knows one wins. */
export function bearerAuthentication(verifiers: readonly TokenVerifier[]): Authenticate {
  return ({ req, url }: Context) => {
    const mark = url.indexOf('?');
    if (mark >= 0) checkPlace(url.slice(mark + 1));
    if (countHeader(req, 'authorization') > 1) throw givenTwice();
    const token = bearer.exec(req.headers.authorization ?? '')?.[1];
    return token === undefined ? undefined : firstThatKnows(verifiers, token);
  };
}

function firstThatKnows(
  [verifier, ...others]: readonly TokenVerifier[],
  token: string,
): ReturnType<TokenVerifier['authenticate']> {
  const caller = verifier?.authenticate(token);
  if (others.length === 0) return caller;
  if (!isThenable(caller)) return caller ?? firstThatKnows(others, token);
  return Promise.resolve(caller).then((found) => found ?? firstThatKnows(others, token));
}

/** @throws Problem `invalid-query` */
function checkPlace(query: string): void {
  // Every way to write the name has an "a" or a "%" at its beginning.
  if (!/(?:^|&)[a%]/.test(query) || !parseQuery(query)?.has(queryName)) return;
  const message = 'A token is sent in the header Authorization, never in the query.';
  const errors = [{ parameter: queryName, code: 'invalid', message }];
  throw new Problem('invalid-query', message, { errors });
}

function givenTwice(): Problem {
  const message = 'The header Authorization must be given once.';
  const errors = [{ header: 'Authorization', code: 'invalid', message }];
  return new Problem('invalid-header', message, { errors });
}
