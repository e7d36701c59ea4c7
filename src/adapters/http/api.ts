import { Router, type RouterContext } from '@koa/router';
import type { Context } from 'koa';
import type { Rostrum } from '../../domain/services/rostrum.ts';
import { authentication } from './access/authenticate.ts';
import { limitedAs } from './access/client-address.ts';
import type { Cors } from './access/cors.ts';
import { peek, type RateLimits, take } from './access/rate-limit.ts';
import { end, inOrder, pass, type State, type Step } from './chain.ts';
import type { Api } from './endpoint.ts';
import { type Resource, resourcesOf } from './endpoints/resources.ts';
import { endpointsFor } from './endpoints/table.ts';
import type { Exchange } from './exchange.ts';
import { Admission } from './load/admission.ts';
import { ResponseMemory } from './load/response-memory.ts';
import { auditLog } from './operator/log.ts';
import type { RostrumHttpOptions } from './options.ts';
import { Problem, unserved } from './problems/problem.ts';
import { BodyReader } from './request/body.ts';

/** How many bytes large responses may hold in all, until their clients took them. */
const responseBytes = 80 * 1024 * 1024;

/** The way of a request through the API, in the contract's order. `boundary.ts` is around it. */
export function createApi(rostrum: Rostrum, options: RostrumHttpOptions, cors: Cors) {
  const { requireIfMatch = false, authenticate, rateLimits = {} } = options;
  const { failures } = rateLimits;
  const admission = new Admission();
  const memory = new ResponseMemory(responseBytes, admission);
  const api: Omit<Api, 'rostrum'> = { requireIfMatch, memory, audit: auditLog(options.logger) };
  const bodies = new BodyReader();
  const router = new Router<State>({ sensitive: true, strict: true });
  for (const [path, resource] of resourcesOf(endpointsFor(rostrum.customFilters))) {
    // Before these: 400, 417 and the 503 of a server that stops (`server/serve.ts`), 414 and 421
    // (`boundary.ts`), 400 and 404 of the path (below).
    const steps: Step[] = [
      chooseEndpoint(resource), // 405
      respondToPreflight(cors, resource),
      limitAddress(rateLimits), // 429
      authenticate === undefined ? pass : limitFailures(rateLimits), // 429
      authentication({ rostrum, authenticate, failures }), // 400, 401, 403
      limitCaller(rateLimits), // 429
      awaitTime(admission), // 503
      checkParameters, // 400: query and headers
      readBody(bodies), // 415, 413, 400; 503 where bodies hold too much memory
      handle(api, admission), // 503 again; what the core says: 422, 404, 428, 412, 409
    ];
    router.all(path, inOrder(steps));
  }

  return async (ctx: Context, exchange: Exchange, path: string): Promise<void> => {
    const { target, base } = exchange;
    if (!target.isValid) throw unserved(target);
    // Whoever parses an absolute form again, as Koa does for `ctx.path`, may throw where that is odd.
    if (!ctx.url.startsWith('/')) ctx.url = target.path + (target.query && `?${target.query}`);
    // Not `routes()`: it takes the URL apart again and composes a chain, which costs a seventh of a
    // small request. Each route has one function; `match`, `captures` and `params` are private.
    const [layer] = router.match(path || '/', ctx.method).pathAndMethod;
    const [chain] = layer?.stack ?? [];
    if (layer === undefined || chain === undefined) {
      throw unserved(target, `there are ${base}/users and ${base}/posts`);
    }
    ctx.params = layer.params(path, layer.captures(path), ctx.params);
    await chain(ctx as RouterContext<State>, end);
  };
}

function chooseEndpoint({ methods, allow }: Resource): Step {
  return (ctx, next) => {
    const operation = methods.get(ctx.method);
    if (operation === undefined) {
      const sentence = `${ctx.method} is not allowed on this path.`;
      throw new Problem('method-not-allowed', sentence, { headers: ['Allow', allow] });
    }
    const { exchange } = ctx.state;
    ctx.state.operation = operation;
    exchange.endpoint = operation.endpoint.operation;
    exchange.id = ctx.params.id ?? '';
    return next();
  };
}

function limitAddress({ address }: RateLimits): Step {
  if (address === undefined) return pass;
  return ({ state: { exchange } }, next) =>
    take(exchange, address, limitedAs(exchange.address)).then(next);
}

/** A browser asks before it sends credentials. Were it refused, no script would see the 429. */
function respondToPreflight(cors: Cors, { allow }: Resource): Step {
  if (cors.isOff) return pass;
  return (ctx, next) => {
    const response = cors.preflight(ctx.req, allow);
    if (response === undefined) return next();
    ctx.state.exchange.response = response;
    return Promise.resolve();
  };
}

/** An address whose tokens were refused too often has none looked at any more. */
function limitFailures({ failures }: RateLimits): Step {
  if (failures === undefined) return pass;
  return ({ state: { exchange } }, next) => {
    if (exchange.headers.authorization === undefined) return next();
    const counted = peek(exchange, failures, limitedAs(exchange.address));
    return counted === undefined ? next() : counted.then(next);
  };
}

function limitCaller({ caller: limiter }: RateLimits): Step {
  if (limiter === undefined) return pass;
  return ({ state: { exchange } }, next) => {
    const { caller } = exchange;
    return caller === undefined ? next() : take(exchange, limiter, caller.name).then(next);
  };
}

/** Refuses before a body is read: what waits for the event loop costs it little. */
function awaitTime(admission: Admission): Step {
  return (ctx, next) => {
    const { exchange, operation } = ctx.state;
    const wait = admission.wait(operation.kind);
    if (wait === undefined) return next();
    return wait.then(() => {
      exchange.checkWaited();
      return next();
    });
  };
}

const checkParameters: Step = (ctx, next) => {
  const { exchange, operation } = ctx.state;
  exchange.query = operation.query.read(exchange.target.query);
  operation.headers.check(exchange.headers);
  return next();
};

function readBody(bodies: BodyReader): Step {
  return (ctx, next) => {
    const { exchange, operation } = ctx.state;
    const { endpoint } = operation;
    if (endpoint.body === undefined) return next();
    return bodies.read(ctx, endpoint.body, (body) => {
      exchange.body = body;
      return next();
    });
  };
}

function handle(api: Omit<Api, 'rostrum'>, admission: Admission): Step {
  return async (ctx) => {
    const { exchange, operation, rostrum } = ctx.state;
    admission.enter(exchange, operation.kind);
    try {
      exchange.checkClient();
      exchange.response = await operation.endpoint.handle(exchange, { ...api, rostrum });
    } finally {
      admission.leave(exchange);
    }
  };
}
