import type { Context } from 'koa';
import {
  anonymousCaller,
  type Caller,
  type CallerInput,
  type Scope,
  toCaller,
} from '../../../domain/caller.ts';
import { isRostrumError, RostrumError } from '../../../domain/errors.ts';
import type { AnyRostrum } from '../../../domain/services/rostrum.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Refused } from '../../../ports/token-verifier.ts';
import type { Endpoint } from '../endpoint.ts';
import type { Exchange, Quota, Step } from '../exchange.ts';
import { Repeats } from '../operator/log.ts';
import { Problem } from '../problems/problem.ts';
import { limitedAs } from './client-address.ts';
import { peek, type RateLimiter } from './rate-limit.ts';

/** What became of credentials; undefined where there are none. */
type Named = CallerInput | Refused | undefined;

/**
 * Says which caller asks; `Refused` for credentials that are not valid, and undefined where there are
 * none: then the request is anonymous where that is allowed, and else gets a 401. An error with the code `credentials-unavailable` is a 503, any other one, or a value that
 * is no caller, a 500.
 */
export interface Authenticate {
  (ctx: Context): Named | Promise<CallerInput> | Promise<Named>;
  /** The caller where that costs nothing to know: such a request is never limited for refused tokens. */
  known?(ctx: Context): CallerInput | undefined;
}

interface Parts {
  readonly rostrum: AnyRostrum;
  readonly authenticate: Authenticate | undefined;
  /** Without it, a request without credentials may do nothing; without both, everything. */
  readonly anonymous: readonly Scope[] | undefined;
  /** Refused tokens by address. */
  readonly failures: RateLimiter | undefined;
  readonly logger: Logger | undefined;
}

/** Makes the steps that find the caller, and bind the core to it, by the scopes of an endpoint. */
export function authentication(parts: Parts): (scopes: Endpoint['scopes']) => Step {
  const { rostrum, authenticate, failures, logger } = parts;
  const anonymous = parts.anonymous && anonymousCaller(parts.anonymous);
  if (authenticate === undefined && anonymous === undefined) {
    return () => (ctx, next) => {
      ctx.state.exchange.rostrum = rostrum;
      return next();
    };
  }
  const boundTo = boundCores(rostrum);
  const warnings = new Repeats();
  return (scopes) => (ctx, next) => {
    const { exchange } = ctx.state;
    const enter = (given: CallerInput): unknown => {
      const { caller, rostrum: bound } = boundTo(given);
      exchange.rostrum = bound;
      exchange.caller = caller;
      checkScope(caller.scopes, scopes);
      return next();
    };
    const enterAnonymous = async (caller: Caller): Promise<unknown> => {
      exchange.isAnonymous = true;
      try {
        return await enter(caller);
      } catch (error) {
        const wouldHelp = authenticate !== undefined && isRostrumError(error, 'forbidden');
        throw wouldHelp ? unauthenticated(exchange) : error;
      }
    };
    if (authenticate === undefined) return anonymous && enterAnonymous(anonymous);
    if (anonymous !== undefined) ctx.vary('Authorization');
    const judge = async (): Promise<unknown> => {
      const { authorization } = exchange.headers;
      const address = limitedAs(exchange.address);
      if (failures && authorization !== undefined) await peek(exchange, failures, address);
      const found = await ask(authenticate, ctx);
      if (found !== undefined && !('refused' in found)) return enter(found);
      if (anonymous && !found && authorization === undefined) return enterAnonymous(anonymous);
      if (authorization !== undefined) {
        exchange.refused = found?.refused;
        logRefusal(exchange, warnings, logger);
        const quota = await failures?.take(address);
        if (quota?.remaining === 0 && !quota.isExceeded) logLimit(exchange, quota, logger);
      }
      throw unauthenticated(exchange);
    };
    const known = authenticate.known?.(ctx);
    // What is known at once is not waited for: that costs about as much as the digest of a key.
    return known === undefined ? judge() : enter(known);
  };
}

/** An operator has to see why tokens are refused, also where requests are not logged. */
function logRefusal(exchange: Exchange, warnings: Repeats, logger: Logger | undefined): void {
  const { refused: reason } = exchange;
  const omitted = reason === undefined || !logger ? undefined : warnings.take(reason);
  if (omitted === undefined) return;
  const { address, requestId } = exchange;
  logger?.warn(
    { reason, address, requestId, ...(omitted > 0 && { omitted }) },
    'Credentials were refused.',
  );
}

function logLimit({ address }: Exchange, { limit, reset }: Quota, logger?: Logger): void {
  const message = 'Too many credentials of an address were refused: new ones are not looked at.';
  logger?.warn({ address, limit, seconds: reset }, message);
}

async function ask(authenticate: Authenticate, ctx: Context): Promise<Named> {
  try {
    return await authenticate(ctx);
  } catch (cause) {
    return fail(cause);
  }
}

/** The code of an error which says that credentials cannot be checked at present. */
const unavailable = 'credentials-unavailable';

function fail(cause: unknown): never {
  if (!(cause instanceof Error && 'code' in cause && cause.code === unavailable)) throw cause;
  throw new Problem(unavailable, 'Credentials cannot be checked at present.', { cause });
}

interface Bound {
  readonly caller: Caller;
  readonly rostrum: AnyRostrum;
}

/**
 * The core bound to a caller, once for each: a key is the same caller every time. Not where the scopes
 * had to be copied: what becomes of them later would not be seen.
 *
 * @throws TypeError for what is no caller
 */
function boundCores(rostrum: AnyRostrum): (given: CallerInput) => Bound {
  const known = new WeakMap<CallerInput, Bound>();
  return (given) => {
    const before = known.get(given);
    if (before !== undefined) return before;
    const caller = toCaller(given);
    const bound = { caller, rostrum: rostrum.as(caller) };
    if (caller === given) known.set(given, bound);
    return bound;
  };
}

function unauthenticated({ metadataUrl, headers }: Exchange): Problem {
  const isSent = headers.authorization !== undefined;
  const parameters = [
    ...(metadataUrl === undefined ? [] : [`resource_metadata="${metadataUrl}"`]),
    ...(isSent ? ['error="invalid_token"'] : []),
  ];
  const sentence = isSent ? 'The credentials are not valid.' : 'This needs credentials.';
  const challenge = ['Bearer', parameters.join(', ')].filter((part) => part !== '').join(' ');
  return new Problem('unauthenticated', sentence, { headers: ['WWW-Authenticate', challenge] });
}

/**
 * One of the scopes that an endpoint declares is enough to get in: the core has the last word.
 *
 * @throws RostrumError `forbidden`, with the scope that is always enough
 */
function checkScope(given: ReadonlySet<Scope>, declared: Endpoint['scopes']): void {
  if (declared.some((scope) => given.has(scope))) return;
  throw new RostrumError('forbidden', { scope: declared[0] });
}
