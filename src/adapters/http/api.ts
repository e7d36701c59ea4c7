import { Router, type RouterContext } from '@koa/router';
import type { Context } from 'koa';
import { pageLimits } from '../../domain/list.ts';
import type { Rostrum } from '../../domain/services/rostrum.ts';
import { authentication } from './access/authenticate.ts';
import { limitedAs } from './access/client-address.ts';
import type { Cors } from './access/cors.ts';
import { type RateLimits, take } from './access/rate-limit.ts';
import type { Api, Operation, State, Step } from './endpoint.ts';
import { type Resource, resourcesOf } from './endpoints/resources.ts';
import { endpointsFor } from './endpoints/table.ts';
import type { Exchange, Query, Target } from './exchange.ts';
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
  rostrum: Rostrum,
  front: string,
  options: RostrumHttpOptions,
  cors: Cors,
  room: Room,
): (ctx: Context, target: Target) => Promise<unknown> {
  const { requireIfMatch = false, authenticate, rateLimits = {}, logger } = options;
  const { failures } = rateLimits;
  const api = { requireIfMatch, audit: auditLog(logger) };
  const router = new Router<State>({ prefix: escaped(front), sensitive: true, strict: true });
  for (const [path, resource] of resourcesOf(endpointsFor(rostrum.customFilters))) {
    const steps: (Step | undefined)[] = [
      chooseEndpoint(resource, rostrum), // 405
      respondToPreflight(cors, resource),
      limitAddress(rateLimits), // 429
      authenticate && authentication({ rostrum, authenticate, failures, logger }), // 400, 429, 401, 403
      limitCaller(rateLimits), // 429
      enterRoom(room), // 503; then 400: query and headers
      takeBody, // 415, 413, 400; 503 where there is no room for it
      handle(api), // 503 again; what the core says: 422, 404, 428, 412, 409
    ];
    router.all(path, chained(steps.filter((step) => step !== undefined)));
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

/** Steps as one: the router would compose them anew for each request, which is 4 % of a GET. */
function chained(steps: readonly Step[]): Step {
  return steps.reduceRight((rest, step) => (ctx, next) => step(ctx, () => rest(ctx, next)));
}

/** A path as the pattern that it alone matches. */
function escaped(path: string): string {
  return path.replace(/[(){}[\]*+?!:\\]/g, '\\$&');
}

function chooseEndpoint({ methods, allow }: Resource, rostrum: Rostrum): Step {
  return (ctx, next) => {
    const operation = methods.get(ctx.method);
    if (operation === undefined) {
      const sentence = `${ctx.method} is not allowed on this path.`;
      throw new Problem('method-not-allowed', sentence, { headers: ['Allow', allow] });
    }
    const { exchange } = ctx.state;
    ctx.state.operation = operation;
    ctx.state.rostrum = rostrum;
    exchange.endpoint = operation.endpoint.operation;
    exchange.id = ctx.params.id ?? '';
    return next();
  };
}

function limitAddress({ address }: RateLimits): Step | undefined {
  if (address === undefined) return undefined;
  return ({ state: { exchange } }, next) =>
    take(exchange, address, limitedAs(exchange.address)).then(next);
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

function limitCaller({ caller: limiter }: RateLimits): Step | undefined {
  if (limiter === undefined) return undefined;
  return ({ state: { exchange } }, next) => {
    const { caller } = exchange;
    return caller === undefined ? next() : take(exchange, limiter, caller.name).then(next);
  };
}

/** Refuses before a body is read: what has no room costs little. */
function enterRoom(room: Room): Step {
  return (ctx, next) => {
    const { exchange, operation } = ctx.state;
    const text = exchange.target.query;
    const query = operation.query.read(text);
    if (query !== undefined) exchange.query = query;
    ctx.state.visit = room.enter(exchange, operation.kind, keyOf(exchange, operation));
    operation.query.check(query, text); // 400
    operation.headers.check(exchange.headers); // 400
    return next();
  };
}

const takeBody: Step = (ctx, next) => {
  const { exchange, operation, visit } = ctx.state;
  const { endpoint } = operation;
  if (endpoint.body === undefined) return next();
  return readBody(ctx, visit, endpoint.body, (body) => {
    exchange.body = body;
    return next();
  });
};

/** Makes the response in the room that it needs, as far as that is known from the last time. */
function handle(api: Omit<Api, 'rostrum'>): Step {
  return async (ctx) => {
    const { exchange, operation, rostrum, visit } = ctx.state;
    exchange.checkClient();
    try {
      const make = () => operation.endpoint.handle(exchange, { ...api, rostrum });
      respond(ctx, await visit.make(make));
    } finally {
      visit.leave();
    }
  };
}

/** The shapes of lists, by queries that are kept. */
const shapes = new WeakMap<Query, string>();

/** What takes as long and as much memory each time: lists of one shape, one record. */
function keyOf({ id, query }: Exchange, { endpoint, kind }: Operation): string {
  if (kind !== 'list') return id;
  const known = shapes.get(query);
  if (known !== undefined) return known;
  const limit = Number(query.get('limit')?.[0] ?? pageLimits.default);
  const size = limit > pageLimits.default ? 'large' : limit > 1 ? 'usual' : 'one';
  const names = [...query.keys()].filter((name) => name !== 'limit' && name !== 'sort');
  const shape = [endpoint.operation, size, query.get('sort')?.[0], ...names].join(' ');
  shapes.set(query, shape);
  return shape;
}
