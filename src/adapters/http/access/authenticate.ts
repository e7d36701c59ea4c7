import type { Context } from 'koa';
import type { Caller, Scope } from '../../../domain/caller.ts';
import { RostrumError } from '../../../domain/errors.ts';
import { isThenable } from '../../../domain/options.ts';
import type { Rostrum } from '../../../domain/services/rostrum.ts';
import type { Step } from '../endpoint.ts';
import type { Exchange } from '../exchange.ts';
import type { Authenticate } from '../options.ts';
import { Problem } from '../problems/problem.ts';
import { limitedAs } from './client-address.ts';
import type { RateLimiter } from './rate-limit.ts';

interface Parts {
  readonly rostrum: Rostrum;
  readonly authenticate: Authenticate;
  /** Refused tokens by address. */
  readonly failures: RateLimiter | undefined;
}

/** Finds out who asks, and binds the core to them. Without this step every client may do everything. */
export function authentication({ rostrum, authenticate, failures }: Parts): Step {
  const boundTo = boundCores(rostrum);
  return (ctx, next) => {
    const { exchange, operation } = ctx.state;
    const enter = (caller: Caller | undefined): Promise<unknown> => {
      if (caller === undefined) return refuse(exchange, failures);
      ctx.state.rostrum = boundTo(caller);
      exchange.caller = caller;
      checkScope(caller.scopes, operation.endpoint.scopes);
      return next();
    };
    const found = ask(authenticate, ctx);
    // What is known at once is not waited for: that costs about as much as the digest of a key.
    return isThenable(found) ? Promise.resolve(found).then(enter, fail) : enter(found);
  };
}

function ask(authenticate: Authenticate, ctx: Context): ReturnType<Authenticate> {
  try {
    return authenticate(ctx);
  } catch (cause) {
    return fail(cause);
  }
}

/** The code of an error which says that nobody can tell at present. */
const unavailable = 'credentials-unavailable';

function fail(cause: unknown): never {
  if (!(cause instanceof Error && 'code' in cause && cause.code === unavailable)) throw cause;
  throw new Problem(unavailable, 'Credentials cannot be checked at present.', { cause });
}

/**
 * The core bound to a caller, once for each: a key is the same caller every time.
 *
 * @throws TypeError for what is no caller
 */
function boundCores(rostrum: Rostrum): (caller: Caller) => Rostrum {
  const known = new WeakMap<Caller, Rostrum>();
  return (caller) => {
    const before = known.get(caller);
    if (before !== undefined) return before;
    const bound = rostrum.as(caller);
    known.set(caller, bound);
    return bound;
  };
}

/** @throws Problem `unauthenticated` */
async function refuse(exchange: Exchange, failures: RateLimiter | undefined): Promise<never> {
  const { metadataUrl, headers } = exchange;
  const isSent = headers.authorization !== undefined;
  if (isSent) await failures?.take(limitedAs(exchange.address));
  const parameters = [
    ...(metadataUrl === undefined ? [] : [`resource_metadata="${metadataUrl}"`]),
    ...(isSent ? ['error="invalid_token"'] : []),
  ];
  const sentence = isSent ? 'The credentials are not valid.' : 'This needs credentials.';
  const challenge = ['Bearer', parameters.join(', ')].filter((part) => part !== '').join(' ');
  throw new Problem('unauthenticated', sentence, { headers: ['WWW-Authenticate', challenge] });
}

/**
 * One of the scopes that an endpoint declares is enough to get in: the core has the last word.
 *
 * @throws RostrumError `forbidden`, with the scope that is always enough
 */
function checkScope(given: ReadonlySet<Scope>, declared: readonly [Scope, ...Scope[]]): void {
  if (declared.some((scope) => given.has(scope))) return;
  throw new RostrumError('forbidden', { scope: declared[0] });
}
