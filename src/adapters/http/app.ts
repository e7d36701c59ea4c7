import Koa from 'koa';
import type { AnyRostrum } from '../../domain/services/rostrum.ts';
import { createBoundary, handleAppErrors, isForClient } from './boundary.ts';
import { exchangeOf } from './exchange.ts';
import { Room } from './load/room.ts';
import { apiMiddleware } from './middleware.ts';
import { openApiDocument } from './openapi/document.ts';
import type { RostrumAppOptions } from './options.ts';
import { pagesAndProbes } from './pages/pages-and-probes.ts';
import { unserved } from './problems/problem.ts';
import { publicBase } from './request/target.ts';

/**
 * The whole program's app: the API, its description, pages for people, the probes. Middleware that is
 * added to it serves what none of these does.
 */
export function createApp(rostrum: AnyRostrum, options: RostrumAppOptions): Koa {
  const { logger, publicUrl } = options;
  const site = publicBase(publicUrl) ?? '';
  const app = new Koa();
  const boundary = createBoundary(options);
  const room = new Room();
  const describe = () => openApiDocument(rostrum.customFilters, options);
  handleAppErrors(app, logger);
  app.use(boundary);
  app.use(pagesAndProbes(rostrum, describe, options, room)); // First, so that a prefix of "" does not hide it.
  app.use(apiMiddleware(rostrum, options, room, boundary));
  app.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (!isForClient(error)) throw error;
      ctx.onerror(error as Error);
    }
    if (ctx.respond === false || ctx.headerSent || ctx.status !== 404 || ctx.body) return;
    throw unserved(exchangeOf(ctx)?.target ?? { isValid: true }, `${site}/ leads to what there is`);
  });
  return app;
}
