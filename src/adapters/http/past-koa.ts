import type { IncomingMessage, ServerResponse } from 'node:http';
import type Koa from 'koa';
import { end, inOrder } from './chain.ts';

/**
 * An app whose middleware sends every response past Koa. Koa listens for errors of each connection
 * on behalf of `ctx.body`, which costs an eighth of a small request: here the server hears of them.
 * An app that is given more middleware later is served by Koa as ever.
 */
export function pastKoa(app: Koa): Koa {
  const { length: own } = app.middleware;
  const callback = app.callback.bind(app);
  app.callback = () => {
    const viaKoa = callback();
    if (app.middleware.length > own) return viaKoa;
    const respond = inOrder<Koa.Context>(app.middleware);
    return async (request, response) => {
      response.statusCode = 404; // As Koa has it, until somebody responds.
      const ctx = app.createContext(request as IncomingMessage, response as ServerResponse);
      try {
        await respond(ctx, end);
      } catch (error) {
        ctx.onerror(error as Error);
      }
    };
  };
  return app;
}
