import type { Exchange } from '../exchange.ts';
import type { RoomState } from '../load/room.ts';

/**
 * Told of requests, to count them. Every text is one of a small set: an endpoint, a page, the code
 * of a problem, and never what a client made up.
 */
export interface HttpMetrics {
  requestBegan(): void;
  /** @param status absent when the client did not wait for the response */
  requestEnded(endpoint: string, status: number | undefined, seconds: number): void;
  /** Given once: what is under way, whenever it is asked. */
  room?(state: () => RoomState): void;
  /** A response was this problem, also one to what is refused before it is a request. */
  problem(code: string): void;
}

/** Counts a request when its response was taken or its client is gone. */
export function countAtEnd(exchange: Exchange, metrics: HttpMetrics): void {
  const { res } = exchange;
  const start = performance.now();
  metrics.requestBegan();
  exchange.atEnd(() => {
    const { endpoint, problem } = exchange;
    const status = exchange.isSent ? res.statusCode : undefined;
    metrics.requestEnded(endpoint || 'none', status, (performance.now() - start) / 1000);
    if (problem !== undefined) metrics.problem(problem);
  });
}
