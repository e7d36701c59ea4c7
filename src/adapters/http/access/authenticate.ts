import {
  type Caller,
  type CallerInput,
  type Scope,
  toCaller,
} from '../../../domain/access/caller.ts';
import { isRostrumError, RostrumError } from '../../../domain/errors.ts';
import type { AnyRostrum } from '../../../domain/services/rostrum.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Refused } from '../../../ports/token-verifier.ts';
import { rateLimitKey } from '../client-address.ts';
import type { Context, Middleware } from '../context.ts';
import { maskSecrets, WarningThrottle } from '../operator/log.ts';
import { Problem } from '../problems/problem.ts';
import { metadataUrl } from './metadata.ts';
import { checkFailures, type RateLimits, secondsUntilReset } from './rate-limit.ts';

type Scopes = readonly [Scope, ...Scope[]];

/** The caller, `Refused` for invalid credentials, or undefined for a request without credentials. */
type Authentication = CallerInput | Refused | undefined;

/**
 * Identifies the caller of a request. `Refused` means invalid credentials; undefined means none, and the request
 * is anonymous if the server allows that. An error with the code `credentials-unavailable`, `store-unavailable` or
 * `overloaded` becomes a 503, and `ctx.throw(403)` a 403. Any other error, and a value that is not a caller, becomes a
 * 500.
 */
export interface Authenticate {
  (ctx: Context): Authentication | Promise<CallerInput> | Promise<Authentication>;
  /** Returns the caller if it is known at no cost. Such a request skips the limit on rejected tokens. */
  known?(ctx: Context): CallerInput | undefined;
}

/** The options of {@link authorization}. */
export interface AccessOptions {
  readonly authenticate?: Authenticate | undefined;
  /** If absent: no scopes with `authenticate`, otherwise all scopes. */
  readonly anonymous?: Caller | undefined;
  readonly rateLimits?: RateLimits | undefined;
  readonly logger?: Logger | undefined;
}

/**
 * Returns the step that identifies the caller, checks that it has one of the endpoint's scopes, and binds the
 * services to it: 400, 401, 403, 429, 503.
 */
export function authorization(
  rostrum: AnyRostrum,
  options: AccessOptions,
): (scopes: Scopes, resource?: string) => Middleware {
  const { authenticate, anonymous } = options;
  if (authenticate === undefined) {
    return (scopes) => (ctx, next) => {
      if (anonymous === undefined) ctx.state.rostrum.services = rostrum;
      else bind(ctx, anonymous, scopes);
      return next();
    };
  }
  const identify = identification(authenticate, options);
  return (scopes, resource) => async (ctx, next) => {
    if (anonymous !== undefined) ctx.vary('Authorization');
    const caller = authenticate.known?.(ctx) ?? (await identify(ctx, resource));
    if (caller !== undefined) {
      bind(ctx, toCaller(caller), scopes);
      return next();
    }
    if (anonymous === undefined) throw unauthenticated(ctx, resource);
    try {
      bind(ctx, anonymous, scopes);
      return await next();
    } catch (error) {
      throw isRostrumError(error, 'forbidden') ? unauthenticated(ctx, resource) : error;
    }
  };

  function bind(ctx: Context, caller: Caller, scopes: Scopes): void {
    ctx.state.rostrum.caller = caller;
    ctx.state.rostrum.authenticatedCaller = caller === anonymous ? undefined : caller;
    ctx.state.rostrum.services = rostrum.as(caller);
    // One of the scopes is enough here: the core decides about each record.
    if (scopes.some((scope) => caller.scopes.has(scope))) return;
    throw new RostrumError('forbidden', { scope: scopes[0] });
  }
}

/** Returns the caller, or undefined for a request without credentials. Invalid credentials are a 401. */
function identification(authenticate: Authenticate, options: AccessOptions) {
  const { logger, rateLimits: { failures } = {} } = options;
  const warnings = new WarningThrottle();
  return async (ctx: Context, resource?: string): Promise<CallerInput | undefined> => {
    const state = ctx.state.rostrum;
    const isSent = ctx.headers.authorization !== undefined;
    const address = rateLimitKey(state.address);
    if (failures && isSent) await checkFailures(ctx, failures, address);
    const result = await wrapUnrelatedErrors(() => authenticate(ctx));
    if (result !== undefined && !('refused' in result)) return result;
    state.refusal = result?.refused;
    if (logger) logRefusal(ctx, warnings, logger);
    if (isSent) {
      const count = await failures?.penalty(address);
      if (failures && count?.consumedPoints === failures.points) {
        const fields = {
          address: state.address,
          limit: failures.points,
          seconds: secondsUntilReset(count),
        };
        logger?.warn(fields, tooManyFailures);
      }
    }
    if (result !== undefined || isSent) throw unauthenticated(ctx, resource);
    return undefined;
  };
}

/**
 * Wraps errors of other systems, so that they become a 500: those of an HTTP client, which have a `status` but no `expose`,
 * and errors about records that the callback read.
 */
async function wrapUnrelatedErrors<T>(run: () => T): Promise<Awaited<T>> {
  try {
    return await run();
  } catch (error) {
    const isUnrelated = isRostrumError(error)
      ? error.code !== 'store-unavailable' && error.code !== 'overloaded'
      : error instanceof Error &&
        'status' in error &&
        !('expose' in error || error instanceof Problem);
    throw isUnrelated
      ? new Error('The credentials could not be checked.', { cause: error })
      : error;
  }
}

/** Logs why a token was rejected, even if requests are not logged. */
function logRefusal(ctx: Context, warnings: WarningThrottle, logger: Logger): void {
  const { address, requestId, refusal: reason } = ctx.state.rostrum;
  const omitted = reason === undefined ? undefined : warnings.admit(reason);
  if (omitted === undefined) return;
  const fields = { reason, address, requestId: maskSecrets(requestId) };
  logger.warn({ ...fields, omitted: omitted || undefined }, 'Credentials were refused.');
}

const tooManyFailures =
  'Too many invalid credentials from one address: new ones are rejected unchecked.';

function unauthenticated(ctx: Context, resource: string | undefined): Problem {
  const { authorization } = ctx.headers;
  // A cookie can be refused, too.
  const isInvalid = authorization !== undefined || ctx.state.rostrum.refusal !== undefined;
  const metadata = metadataUrl(ctx, resource);
  // RFC 6750, section 3.1: no error code for another scheme.
  const hasErrorCode = isInvalid && /^bearer(?: |$)/i.test(authorization ?? 'bearer');
  const parameters = [
    metadata && `resource_metadata="${metadata}"`,
    hasErrorCode && 'error="invalid_token"',
  ];
  // RFC 6750, section 3: at least one parameter.
  const challenge = `Bearer ${parameters.filter(Boolean).join(', ') || 'realm="rostrum"'}`;
  const isBare = /^\S+$/.test(authorization?.trim() ?? '');
  const hint = isBare ? ' Write "Bearer" and a space before the key or token.' : '';
  const sentence = isInvalid
    ? `The credentials are not valid.${hint}`
    : 'This request needs credentials.';
  return new Problem('unauthenticated', sentence, { headers: { 'WWW-Authenticate': challenge } });
}
