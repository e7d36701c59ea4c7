/** Rostrum over HTTP: in a Koa app or `node:http` server, or as a server of its own. */

export type { Refused, TokenVerifier } from '../../ports/token-verifier.ts';
export type { Authenticate } from './access/authenticate.ts';
export { bearerAuthentication } from './access/bearer.ts';
export type { TrustedProxies } from './access/client-address.ts';
export type { RateLimiter, RateLimits } from './access/rate-limit.ts';
export { createApp } from './app.ts';
export type { Quota } from './exchange.ts';
export { createMetricsApp } from './metrics-app.ts';
export { rostrumListener, rostrumMiddleware } from './middleware.ts';
export { openApiDocument } from './openapi/document.ts';
export type { HttpMetrics } from './operator/metrics.ts';
export type { Trace, TracedRequest } from './operator/opentelemetry.ts';
export type { RostrumAppOptions, RostrumHttpOptions } from './options.ts';
export type { ServeOptions, ServerLimits } from './server/options.ts';
export { type RunningServer, serve } from './server/serve.ts';
