import type Koa from 'koa';
import type { Context } from 'koa';
import type { Rostrum } from '../../domain/services/rostrum.ts';
import { sendAnswer } from './answer.ts';
import { createApi, invalidPath, pathNotFound } from './api.ts';
import { handleAppErrors } from './app-errors.ts';
import { withinBoundary } from './boundary.ts';
import { type RostrumAppOptions, resolveOptions } from './options.ts';
import { below, isDecoded, joinSegments, pathSegments, splitTarget } from './paths.ts';
import { Koa as KoaApp } from './peers.ts';
import { sendLive, sendReady } from './probes.ts';
import { sendProblemPage } from './problem-page.ts';
import { allMethods, problemsPath } from './whole-server.ts';

/** The whole program's app: the API, the probes, the pages of the kinds of problems. */
export function createApp(rostrum: Rostrum, options: RostrumAppOptions): Koa {
  const { ready } = options;
  const resolved = resolveOptions(options);
  const { under } = resolved;
  const base = joinSegments(under);
  const api = createApi(rostrum, resolved);

  async function route(ctx: Context): Promise<void> {
    const { path } = splitTarget(ctx.url);
    if (path === '*' && ctx.method === 'OPTIONS') return sendServerOptions(ctx);
    const segments = pathSegments(path);
    const rest = below(under, segments);
    const beside = isDecoded(segments) ? await sendBeside(ctx, segments) : false;
    if (beside) return;
    if (rest !== undefined) return api(ctx, { base, rest });
    throw isDecoded(segments) ? pathNotFound() : invalidPath();
  }

  /** What there is beside the API. It comes first, so that a prefix of "" does not hide it. */
  async function sendBeside(ctx: Context, segments: readonly string[]): Promise<boolean> {
    const [first, ...rest] = segments;
    if (first === 'problems') sendProblemPage(ctx, rest, problemsPath);
    else if (first === 'livez' && rest.length === 0) sendLive(ctx);
    else if (first === 'readyz' && rest.length === 0) await sendReady(ctx, ready);
    else return false;
    return true;
  }

  const app = new KoaApp();
  handleAppErrors(app, resolved.logger);
  app.use((ctx) => withinBoundary(ctx, problemsPath, resolved, () => route(ctx)));
  return app;
}

/** `OPTIONS *` asks about the server as a whole (RFC 9110, section 9.3.7). */
function sendServerOptions(ctx: Context): void {
  sendAnswer(ctx, { status: 204, headers: { Allow: allMethods } });
}
