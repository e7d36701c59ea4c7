import Koa from 'koa';
import type { Logger } from '../../ports/logger.ts';
import { createBoundary, handleAppErrors } from './boundary.ts';
import { alive } from './pages/probes.ts';
import { unserved } from './problems/problem.ts';
import { readOnly } from './request/read-only.ts';
import { respond } from './response.ts';

/** Writes all metrics, in a format that its media type names. */
export type Exposition = () => Promise<{ readonly type: string; readonly body: string }>;

/**
 * An app that serves `/metrics` and `/livez`, for a port of its own: it asks for no credentials.
 *
 * @param isOwnHost whether the server has this name; any name will do when absent
 */
export function createMetricsApp(
  exposition: Exposition,
  logger: Logger,
  isOwnHost?: (name: string) => boolean,
): Koa {
  const app = new Koa();
  handleAppErrors(app, logger);
  app.use(createBoundary({ logger, accessLog: false, isOwnHost }));
  app.use(async (ctx) => {
    if (ctx.path === '/livez') return respond(ctx, await readOnly(ctx, () => alive));
    if (ctx.path !== '/metrics') throw unserved({ isValid: true });
    const serve = async () => ({
      status: 200,
      headers: ['Cache-Control', 'no-store'],
      ...(await exposition()),
    });
    respond(ctx, await readOnly(ctx, serve));
  });
  return app;
}
