import { Router, type RouterContext } from '@koa/router';
import type { Context } from 'koa';
import { subjectOf } from '../../domain/access.ts';
import { pageLimits } from '../../domain/list.ts';
import type { AnyRostrum } from '../../domain/services/rostrum.ts';
import { authentication } from './access/authenticate.ts';
import { Cors } from './access/cors.ts';
import { limitAddress, limitCaller } from './access/rate-limit.ts';
import type { Api } from './endpoint.ts';
import { type Operation, type Resource, resourcesOf } from './endpoints/resources.ts';
import { endpointsFor, ownPath } from './endpoints/table.ts';
import {
  chained,
  type Exchange,
  type Query,
  type State,
  type Step,
  type Target,
} from './exchange.ts';
import type { Room } from './load/room.ts';
import { auditLog } from './operator/log.ts';
import type { RostrumHttpOptions } from './options.ts';
import { Problem, unserved } from './problems/problem.ts';
import { readBody } from './request/body.ts';
import { respond } from './response.ts';

/**
 * The way of a request through the API, in the contract's order. `boundary.ts` is around it, and
 * `server/serve.ts` in front, where the server stops (503), and a message is none (400, 417).
 *
 * @param front the prefix, as paths have it
 */
export function createApi(
  rostrum: AnyRostrum,
  front: string,
  options: RostrumHttpOptions,
  room: Room,
): (ctx: Context, target: Target) => Promise<unknown> {
  const { requireIfMatch = false, authenticate, anonymous, rateLimits = {}, logger } = options;
  const { failures } = rateLimits;
  const cors = new Cors(options.cors);
  const api = { requireIfMatch, audit: auditLog(logger) };
  const authenticated = authentication({ rostrum, authenticate, anonymous, failures, logger });
  const router = new Router<State>({ prefix: escaped(front), sensitive: true, strict: true });
  for (const [path, resource] of resourcesOf(endpointsFor(rostrum.customFilters))) {
    const steps = (operation: Operation) => [
      respondToPreflight(cors, resource),
      limitAddress(rateLimits), // 429
      authenticated(operation.endpoint.scopes), // 400, 429, 401, 403
      nameItself(operation), // 403
      limitCaller(rateLimits), // 429
      serveIn(room, operation, api), // 503; 400, 415, 413; what the core says: 422, 404, 428, 412, 409
    ];
    router.all(path, byMethod(resource, steps)); // 405
  }
  const routes = router.routes();

  return (ctx, target) => {
    const { base } = ctx.state.exchange as Exchange;
    if (!target.isValid) throw unserved(target); // 400
    // Two paths with equal segments are equal texts, and Koa may not read an absolute form.
    if (ctx.url !== target.url) ctx.url = target.url;
    return routes(ctx as RouterContext<State>, async () => {
      throw unserved(target, `there are ${base}/users and ${base}/posts`); // 404
    });
  };
}

/** A path as the pattern that it alone matches. */
function escaped(path: string): string {
  return path.replace(/[(){}[\]*+?!:\\]/g, '\\$&');
}

type Steps = readonly (Step | undefined)[];

function byMethod({ methods, allow }: Resource, stepsOf: (operation: Operation) => Steps): Step {
  const chains = new Map<string, { readonly name: string; readonly serve: Step }>();
  for (const [method, operation] of methods) {
    const serve = chained(stepsOf(operation));
    chains.set(method, { name: operation.endpoint.operation, serve });
  }
  return (ctx, next) => {
    const chain = chains.get(ctx.method);
    if (chain === undefined) {
      const sentence = `${ctx.method} is not allowed on this path.`;
      throw new Problem('method-not-allowed', sentence, { headers: ['Allow', allow] });
    }
    const { exchange } = ctx.state;
    exchange.endpoint = chain.name;
    exchange.id = ctx.params.id ?? '';
    return chain.serve(ctx, next);
  };
}

/** A browser asks before it sends credentials. Were it refused, no script would see the 429. */
function respondToPreflight(cors: Cors, { allow }: Resource): Step | undefined {
  if (cors.isOff) return undefined;
  return (ctx, next) => {
    const response = cors.preflight(ctx.req, allow);
    if (response === undefined) return next();
    respond(ctx, response);
    return undefined;
  };
}

/** The id that `/users/me` stands for. */
function nameItself({ endpoint: { path, method } }: Operation): Step | undefined {
  if (path !== ownPath || method === 'OPTIONS') return undefined;
  return ({ state: { exchange } }, next) => {
    exchange.id = subjectOf(exchange.caller);
    return next();
  };
}

/** The request in the room: refused before its body is read, where it has none. */
function serveIn(room: Room, operation: Operation, api: Api): Step {
  const { endpoint, kind } = operation;
  return (ctx) => {
    const { exchange } = ctx.state;
    const text = exchange.target.query;
    const query = operation.query.read(text);
    if (query !== undefined) exchange.query = query;
    const visit = room.enter(exchange, kind, keyOf(exchange, operation)); // 503
    operation.query.check(query, text); // 400
    operation.headers.check(exchange.headers); // 400
    if (endpoint.wait !== undefined) return endpoint.wait(exchange).then(handle);
    if (endpoint.body === undefined) return handle();
    // 415, 413, 400; 503 where there is no room for it
    return readBody(ctx, visit, endpoint.body, (body) => {
      exchange.body = body;
      return handle();
    });

    async function handle(): Promise<void> {
      exchange.checkClient();
      try {
        // In the memory that it needs, as far as that is known from the last time; 503 again.
        respond(ctx, await visit.make(() => endpoint.handle(exchange, api)));
      } finally {
        visit.leave();
      }
    }
  };
}

/** The shapes of lists, by queries that are kept. */
const shapes = new WeakMap<Query, string>();

/** What takes as long and as much memory each time: lists of one shape, one record. */
function keyOf({ id, query }: Exchange, { endpoint, kind }: Operation): string {
  // No id, which a client may have chosen, is the shape of a list, a page or another word of the room.
  if (kind !== 'list') return id && `record ${id}`;
  const known = shapes.get(query);
  if (known !== undefined) return known;
  const limit = Number(query.get('limit')?.[0] ?? pageLimits.default);
  const size = limit > pageLimits.default ? 'large' : limit > 1 ? 'usual' : 'one';
  const names = [...query.keys()].filter((name) => name !== 'limit' && name !== 'sort');
  const shape = [endpoint.operation, size, query.get('sort')?.[0], ...names].join(' ');
  shapes.set(query, shape);
  return shape;
}
