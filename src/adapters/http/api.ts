import { Router, type RouterMiddleware } from '@koa/router';
import type { Context } from 'koa';
import type { Rostrum } from '../../domain/services/rostrum.ts';
import type { Api } from './endpoint.ts';
import { type Operation, type Resource, resources } from './endpoints/resources.ts';
import type { Exchange } from './exchange.ts';
import { PageMemory } from './lists/page-memory.ts';
import type { RostrumHttpOptions } from './options.ts';
import { Problem, unserved } from './problems/problem.ts';
import { BodyReader } from './request/body.ts';

/** How many bytes large pages may hold in all, from their making until their clients took them. */
const pageBytes = 128 * 1024 * 1024;

/** What the steps know: `boundary.ts` makes the exchange, and the first step finds the endpoint. */
interface State {
  exchange: Exchange;
  operation: Operation;
}

type Step = RouterMiddleware<State>;

/**
 * The way of a request through the API, in the contract's order. `boundary.ts` is around it.
 *
 * What limits a caller enters behind `authenticate`: the endpoint is known there, and nothing of
 * query, headers and body was looked at.
 */
export function createApi(
  rostrum: Rostrum,
  { requireIfMatch = false, caller }: RostrumHttpOptions,
) {
  const api: Api = { rostrum, requireIfMatch, pages: new PageMemory(pageBytes) };
  const bodies = new BodyReader();
  const router = new Router<State>({ sensitive: true, strict: true });
  for (const [path, resource] of resources) {
    router.all(
      path,
      chooseEndpoint(resource), // 405
      authenticate(caller), // names who asks
      checkParameters, // 400: query and headers
      readBody(bodies), // 415, 413, 400; 503 where bodies hold too much memory
      handle(api), // what the core says: 422, 404, 428, 412, 409
    );
  }
  const route = router.routes();

  return async (ctx: Context, exchange: Exchange, path: string): Promise<void> => {
    if (!exchange.target.isValid) throw unserved(exchange.target);
    Object.assign(ctx, { newRouterPath: path || '/' });
    await route(ctx as Parameters<typeof route>[0], () => {
      throw unserved(exchange.target);
    });
  };
}

function chooseEndpoint({ methods, allow }: Resource): Step {
  return (ctx, next) => {
    const operation = methods.get(ctx.method);
    if (operation === undefined) {
      const sentence = `${ctx.method} is not allowed on this path.`;
      throw new Problem('method-not-allowed', sentence, { headers: ['Allow', allow] });
    }
    ctx.state.operation = operation;
    ctx.state.exchange.id = ctx.params.id ?? '';
    return next();
  };
}

function authenticate(caller: RostrumHttpOptions['caller']): Step {
  if (caller === undefined) return (_ctx, next) => next();
  return async (ctx, next) => {
    ctx.state.exchange.caller = await caller(ctx);
    return next();
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

function handle(api: Api): Step {
  return async (ctx) => {
    const { exchange, operation } = ctx.state;
    exchange.checkClient();
    exchange.response = await operation.endpoint.handle(exchange, api);
  };
}
