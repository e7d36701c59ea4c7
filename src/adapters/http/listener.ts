import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Rostrum } from '../../domain/rostrum.ts';
import { pathNotFound } from './api.ts';
import { handleAppErrors } from './app-errors.ts';
import { withinBoundary } from './boundary.ts';
import { rostrumMiddleware } from './middleware.ts';
import { mountPath } from './mount-path.ts';
import { defaultPrefix, type RostrumHttpOptions } from './options.ts';
import { joinSegments, prefixSegments } from './paths.ts';
import { Koa } from './peers.ts';

/**
 * Rostrum as a listener for somebody's plain `node:http` server, or for Connect and Express. What
 * does not lie under the prefix is 404; hand it only what does, if the server has more to serve.
 */
export function rostrumListener(
  rostrum: Rostrum,
  options: RostrumHttpOptions = {},
): (request: IncomingMessage, response: ServerResponse) => void {
  const { prefix = defaultPrefix, logger, accessLog = true } = options;
  const under = joinSegments(prefixSegments(prefix));
  const app = new Koa();
  handleAppErrors(app, logger);
  app.use(rostrumMiddleware(rostrum, options));
  app.use((ctx) =>
    withinBoundary(ctx, `${mountPath(ctx)}${under}/problems`, { logger, accessLog }, async () => {
      throw pathNotFound();
    }),
  );
  const handle = app.callback();
  return (request, response) => {
    void handle(request, response);
  };
}
