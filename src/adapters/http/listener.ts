import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Rostrum } from '../../domain/services/rostrum.ts';
import { pathNotFound } from './api.ts';
import { handleAppErrors } from './app-errors.ts';
import { withinBoundary } from './boundary.ts';
import { rostrumMiddleware } from './middleware.ts';
import { mountPath } from './mount-path.ts';
import { type RostrumHttpOptions, resolveOptions } from './options.ts';
import { joinSegments } from './paths.ts';
import { Koa } from './peers.ts';

/**
 * Rostrum as a listener for somebody's plain `node:http` server, or for Connect and Express. What
 * does not lie under the prefix is 404; hand it only what does, if the server has more to serve.
 */
export function rostrumListener(
  rostrum: Rostrum,
  options: RostrumHttpOptions = {},
): (request: IncomingMessage, response: ServerResponse) => void {
  const resolved = resolveOptions(options);
  const under = joinSegments(resolved.under);
  const app = new Koa();
  handleAppErrors(app, resolved.logger);
  app.use(rostrumMiddleware(rostrum, options));
  app.use((ctx) =>
    withinBoundary(ctx, `${mountPath(ctx)}${under}/problems`, resolved, async () => {
      throw pathNotFound();
    }),
  );
  const handle = app.callback();
  return (request, response) => {
    void handle(request, response);
  };
}
