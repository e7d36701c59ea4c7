import { Router } from '@koa/router';
import type { Scope } from '../../domain/access/caller.ts';
import type { AnyRostrum } from '../../domain/services/rostrum.ts';
import { authorization } from './access/authenticate.ts';
import { preflight } from './access/cors.ts';
import { limitAddress, limitCaller } from './access/rate-limit.ts';
import { parseBody, readBody } from './body.ts';
import {
  type Context,
  composeSteps,
  type Middleware,
  type RostrumState,
  setOperation,
} from './context.ts';
import { acceptedBodies, allMethods, type Endpoint } from './endpoint.ts';
import type { Limiter } from './limits.ts';
import type { RostrumHttpOptions } from './options.ts';
import { Problem } from './problems/problem.ts';
import { escapePath } from './target.ts';
import { validateHeaders, validateQuery } from './validate.ts';

/** The routes of the API. */
export function apiRouter(
  rostrum: AnyRostrum,
  prefix: string,
  options: RostrumHttpOptions,
  limiter: Limiter,
  endpoints: readonly Endpoint[],
): Router<RostrumState> {
  const { cors, rateLimits } = options;
  const authorize = authorization(rostrum, options);
  const router = new Router<RostrumState>({
    prefix: escapePath(prefix),
    sensitive: true,
    strict: true,
  });

  const stepsOf = (endpoint: Endpoint, answerPreflight?: Middleware): Middleware => {
    const { operation, scopes, resource, query, queryHint, headers } = endpoint;
    const form = endpoint.body && acceptedBodies[endpoint.method];
    return composeSteps([
      setOperation(operation),
      answerPreflight,
      limitAddress(rateLimits), // 429
      authorize(scopes, resource), // 400, 401, 403, 429, 503
      endpoint.resolveId, // 403
      limitCaller(rateLimits), // 429
      limiter.admit, // 503
      validateQuery(query, queryHint), // 400
      validateHeaders(headers), // 400
      form && readBody(form, limiter), // 415, 413, 400, 503
      limiter.run(endpoint.isList), // 503
      form && parseBody(endpoint.body === true), // 400
      endpoint.handle as Middleware, // Everything else
    ]);
  };

  for (const [path, group] of Map.groupBy(endpoints, (one) => one.path)) {
    const allow = allowOf(group.map(({ method }) => method));
    for (const endpoint of group) {
      const verb = endpoint.method.toLowerCase() as Lowercase<Endpoint['method']>;
      router[verb](endpoint.operation, path, stepsOf(endpoint));
    }
    router.options(path, stepsOf(optionsEndpoint(path, group, allow), preflight(cors, allow)));
  }
  return router;
}

/** The header `Allow`. HEAD works wherever GET does, and OPTIONS everywhere. */
function allowOf(methods: Iterable<string>): string {
  const given = new Set(methods);
  if (given.has('GET')) given.add('HEAD');
  given.add('OPTIONS');
  return allMethods.filter((method) => given.has(method)).join(', ');
}

/**
 * Throws 405 if the path has routes, but none for this method. Responds to OPTIONS of pages.
 *
 * In place of `router.allowedMethods()`, which acts only after all other middleware, responds to OPTIONS with 200
 * and to methods that it does not know, such as PROPFIND, with 501.
 */
export const methodNotAllowed: Middleware = (ctx, next) => {
  // OPTIONS * asks about the server as a whole (RFC 9110, section 9.3.7).
  if (ctx.method === 'OPTIONS' && ctx.path === '*') return sendAllow(ctx, allMethods.join(', '));
  const { hostMatches } = ctx.state.rostrum;
  const own = ctx.matched?.slice(hostMatches) ?? [];
  const matched = own.filter(({ methods }) => methods.length > 0);
  if (matched.length === 0) return next();
  const Allow = allowOf(matched.flatMap(({ methods }) => methods));
  if (ctx.method === 'OPTIONS') return sendAllow(ctx, Allow);
  const sentence = `${ctx.method} is not allowed on this path, which has ${Allow}.`;
  throw new Problem('method-not-allowed', sentence, { headers: { Allow } });
};

function sendAllow(ctx: Context, Allow: string): void {
  ctx.status = 204;
  ctx.set({ Allow });
}

/** Lets the middleware after Rostrum respond first, then throws 404. */
export const notFound: Middleware = async (ctx, next) => {
  await next();
  if (ctx.respond === false || ctx.headerSent || ctx.status !== 404 || ctx.body) return;
  const { apiUrl } = ctx.state.rostrum;
  const sentence = `No such path. The API has ${apiUrl}/users, ${apiUrl}/posts and ${apiUrl}/events. Paths have no trailing slash.`;
  throw new Problem('path-not-found', sentence);
};

/** The endpoint for OPTIONS of a path. It accepts the query parameters of the path's other methods. */
function optionsEndpoint(path: string, group: readonly Endpoint[], allow: string): Endpoint {
  const headers: Record<string, string> = { Allow: allow };
  const [{ resource } = {}] = group;
  for (const { method, body } of group) {
    const form = body && method !== 'PUT' ? acceptedBodies[method] : undefined;
    if (form) headers[form.header] = form.types.join(', ');
  }
  return {
    method: 'OPTIONS',
    path,
    operation: `options ${path}`,
    summary: 'What the path accepts',
    scopes: group.flatMap(({ scopes }) => scopes) as [Scope, ...Scope[]],
    ...(resource !== undefined && { resource }),
    query: group.flatMap(({ query = [] }) => query.map(({ check: _, ...parameter }) => parameter)),
    responses: { 204: { description: 'The header Allow lists the methods.' } },
    async handle(ctx) {
      ctx.status = 204;
      ctx.set(headers);
    },
  };
}
