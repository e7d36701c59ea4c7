/** Rostrum over HTTP: in somebody's Koa app or `node:http` server, or as a server of its own. */
export { createApp } from './app.ts';
export { rostrumListener, rostrumMiddleware } from './middleware.ts';
export type { RostrumAppOptions, RostrumHttpOptions } from './options.ts';
export type { ServeOptions, ServerLimits } from './server/options.ts';
export { type RunningServer, serve } from './server/serve.ts';
