import type { Router } from '@koa/router';
import type { AnyRostrum } from '../../domain/services/rostrum.ts';
import { type AccessOptions, authorization } from './access/authenticate.ts';
import { allowPreflight } from './access/cors.ts';
import { limitAddress, limitCaller } from './access/rate-limit.ts';
import { parseBody, readBody } from './body.ts';
import {
  type Context,
  composeSteps,
  createRouter,
  type Middleware,
  type RostrumState,
  setOperation,
} from './context.ts';
import { acceptedBodies, allMethods, type Endpoint, type Method } from './endpoint.ts';
import type { Limiter } from './limits/limiter.ts';
import { Problem } from './problems/problem.ts';
import { validateHeaders, validateQuery } from './validate.ts';

/** The routes of the API. */
export function apiRouter(
  rostrum: AnyRostrum,
  prefix: string,
  options: AccessOptions,
  limiter: Limiter,
  endpoints: readonly Endpoint[],
): Router<RostrumState> {
  const { rateLimits } = options;
  const authorize = authorization(rostrum, options);
  const router = createRouter(prefix);

  for (const endpoint of endpoints) {
    const { operation, scopes, resource, query, headers } = endpoint;
    const accepted = endpoint.body && acceptedBodies[endpoint.method];
    const steps = composeSteps([
      setOperation(operation),
      limitAddress(rateLimits), // 429
      authorize(scopes, resource), // 400, 401, 403, 429, 503
      endpoint.resolveId, // 403
      limitCaller(rateLimits), // 429
      limiter.admit, // 503
      validateQuery(query), // 400
      validateHeaders(headers), // 400
      accepted && readBody(accepted, limiter), // 400, 415, 413, 503
      limiter.run(endpoint.isList), // 503
      accepted && parseBody(endpoint.body === true), // 400
      endpoint.handle as Middleware, // Everything else
    ]);
    const verb = endpoint.method.toLowerCase() as Lowercase<Endpoint['method']>;
    router[verb](endpoint.path, steps);
  }
  return router;
}

/**
 * Responds to OPTIONS of a path that has routes, and throws 405 if none of them is for the method.
 *
 * In place of `router.allowedMethods()`, which acts only after all other middleware, responds to OPTIONS with 200
 * and to methods that it does not know, such as PROPFIND, with 501.
 */
export const otherMethods: Middleware = (ctx, next) => {
  const { method, path, matched = [], state } = ctx;
  const routeMethods = matched.slice(state.rostrum.hostMatches).flatMap(({ methods }) => methods);
  // OPTIONS * asks about the server as a whole (RFC 9110, section 9.3.7).
  const isAboutServer = method === 'OPTIONS' && path === '*';
  const methods = new Set<string>(isAboutServer ? allMethods : routeMethods);
  if (methods.size === 0) return next();
  const allowed = allMethods.filter((name) => methods.has(name) || name === 'OPTIONS');
  const Allow = allowed.join(', ');
  if (method === 'OPTIONS') return sendOptions(ctx, allowed, Allow);
  const sentence = `${method} is not allowed on this path. Allowed: ${Allow}.`;
  throw new Problem('method-not-allowed', sentence, { headers: { Allow } });
};

function sendOptions(ctx: Context, methods: readonly Method[], Allow: string): void {
  ctx.status = 204;
  ctx.set({ Allow });
  for (const { header, types } of methods.flatMap((method) => acceptedBodies[method] ?? [])) {
    ctx.set(header, types.join(', '));
  }
  allowPreflight(ctx, Allow);
}

/** Lets the middleware after Rostrum respond first, then throws 404. */
export const notFound: Middleware = async (ctx, next) => {
  await next();
  if (ctx.respond === false || ctx.headerSent || ctx.status !== 404 || ctx.body) return;
  const { apiUrl } = ctx.state.rostrum;
  const sentence = `No such path. The API has ${apiUrl}/users, ${apiUrl}/posts and ${apiUrl}/events. Paths have no trailing slash.`;
  throw new Problem('path-not-found', sentence);
};
