import type { Middleware } from '../context.ts';
import type { LimiterState } from '../limits/limiter.ts';

/**
 * Counts requests. Every label is one of a small set: an operation, a page, or the code of a problem; never
 * text from a client.
 */
export interface HttpMetrics {
  requestBegan(): void;
  /** @param status absent if the client did not wait for the response */
  requestEnded(endpoint: string, status: number | undefined, seconds: number): void;
  /** Called once with a function that returns the current state of the limiter. */
  limiter?(state: () => LimiterState): void;
  /**
   * Called for each response that is one of Rostrum's problems, also for requests that the server rejects before the app
   * sees them.
   */
  problem(code: string): void;
}

/** Counts each request when its response has been sent or its client has gone. */
export function countRequests(metrics: HttpMetrics): Middleware {
  return ({ res, state: { rostrum } }, next) => {
    const start = performance.now();
    metrics.requestBegan();
    res.once('close', () => {
      const status = res.writableFinished ? res.statusCode : undefined;
      const seconds = (performance.now() - start) / 1000;
      metrics.requestEnded(rostrum.operation || 'none', status, seconds);
      if (rostrum.problem !== undefined) metrics.problem(rostrum.problem.code);
    });
    return next();
  };
}
