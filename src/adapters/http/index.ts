/** Rostrum over HTTP: in a Koa app or `node:http` server, or as a server of its own. */

export type { Refused, TokenVerifier } from '../../ports/token-verifier.ts';
export type { Authenticate } from './access/authenticate.ts';
export { bearerAuthentication } from './access/bearer.ts';
export type { RateLimiter, RateLimiterCount, RateLimits } from './access/rate-limit.ts';
export {
  createApp,
  createMetricsApp,
  createWaitingApp,
  problemResponses,
  rostrumListener,
  rostrumMiddleware,
} from './app.ts';
export type { TrustedProxies } from './client-address.ts';
export type { RequestState } from './context.ts';
export { openApiDocument } from './openapi/document.ts';
export type { HttpMetrics } from './operator/metrics.ts';
export type { Trace } from './operator/opentelemetry.ts';
export type {
  RostrumAppOptions,
  RostrumHttpOptions,
  ServeOptions,
  ServerLimits,
} from './options.ts';
export { type RunningServer, serve } from './server/serve.ts';
