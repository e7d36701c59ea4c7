import type { Context } from 'koa';
import type { Rostrum } from '../../domain/services/rostrum.ts';
import { sendAnswer } from './answer.ts';
import { readBody } from './body-gate.ts';
import type { Endpoint } from './endpoint.ts';
import { endpoints } from './endpoints.ts';
import { sliceSlots } from './list-page.ts';
import { checkHeaders, checkQuery } from './parameters.ts';
import { isDecoded, joinSegments, splitTarget } from './paths.ts';
import { Router } from './peers.ts';
import { Problem } from './problems.ts';
import { Unsent } from './unsent.ts';

export interface ApiOptions {
  readonly requireIfMatch: boolean;
  readonly caller: (ctx: Context) => string;
}

/** Where in the app's tree of paths a request is. */
export interface Place {
  /** The path of the API as the client sees it. */
  readonly base: string;
  /** What of the path lies below it; undefined where it cannot be decoded. */
  readonly rest: readonly (string | undefined)[];
}

export type Api = (ctx: Context, place: Place) => Promise<void>;

/**
 * The API: routes by the endpoint table, and answers what the table says of each endpoint in the
 * contract's order: path 400 and 404, method 405, overload 503, query and headers 400, the body's
 * form 415, 413, 400; the rest is the core's.
 */
export function createApi(rostrum: Rostrum, { requireIfMatch, caller }: ApiOptions): Api {
  const router = new Router({ sensitive: true, strict: true });
  const places = new WeakMap<object, Place>();
  const unsent = new Unsent();
  const slots = sliceSlots();

  for (const endpoint of endpoints) {
    router.register(endpoint.path, [endpoint.method], async (ctx) => {
      unsent.check();
      const query = checkQuery(splitTarget(ctx.url).query, endpoint.query);
      checkHeaders(ctx.headers, endpoint.headers);
      const body = endpoint.body ? await readBody(ctx, endpoint.body) : { raw: '', value: {} };
      const { grow, settle } = unsent.open(ctx.res);
      const answer = await endpoint.handle({
        rostrum,
        base: places.get(ctx.req)?.base ?? '',
        caller: caller(ctx),
        id: (ctx.params as Record<string, string>).id ?? '',
        query,
        headers: ctx.headers,
        body,
        requireIfMatch,
        grow,
        slots,
      });
      settle(answer.body?.length ?? 0);
      sendAnswer(ctx, answer);
    });
  }
  for (const [path, there] of Map.groupBy(endpoints, (endpoint) => endpoint.path)) {
    const headers = optionsHeaders(there);
    router.options(path, (ctx) => {
      const parameters = there.flatMap((endpoint) => endpoint.query);
      checkQuery(
        splitTarget(ctx.url).query,
        parameters.map(({ check: _, ...parameter }) => parameter),
      );
      sendAnswer(ctx, { status: 204, headers });
    });
    router.all(path, (ctx) => {
      throw new Problem('method-not-allowed', `${ctx.method} is not allowed on this path.`, {
        headers: { Allow: headers.Allow },
      });
    });
  }

  const route = router.routes();
  return async (ctx, place) => {
    if (!isDecoded(place.rest)) throw invalidPath();
    places.set(ctx.req, place);
    // What the router matches in place of ctx.path: well-formed, and below our prefix.
    Object.assign(ctx, { newRouterPath: joinSegments(place.rest) || '/' });
    await route(ctx as Parameters<typeof route>[0], () => {
      throw pathNotFound();
    });
  };
}

function optionsHeaders(there: readonly Endpoint[]): { readonly Allow: string } {
  const methods = there.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const accepted = there.flatMap(({ body }) =>
    body && body.acceptHeader !== 'Accept' ? [[body.acceptHeader, body.types.join(', ')]] : [],
  );
  return { Allow: [...methods, 'OPTIONS'].join(', '), ...Object.fromEntries(accepted) };
}

export function invalidPath(): Problem {
  return new Problem('invalid-path', 'The path is not percent-encoded UTF-8.');
}

export function pathNotFound(): Problem {
  return new Problem('path-not-found', 'Nothing is served under this path.');
}
