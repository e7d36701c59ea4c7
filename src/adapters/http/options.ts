import type { Context } from 'koa';
import type { Logger } from '../../ports/logger.ts';
import { prefixSegments } from './paths.ts';

/** How Rostrum is put into an app. */
export interface RostrumHttpOptions {
  /** The path that the API lies under; `/api/v1` when absent. */
  readonly prefix?: string | undefined;
  /** Whether a change has to say, by `If-Match`, which version it starts from. */
  readonly requireIfMatch?: boolean | undefined;
  /** Told of requests and failures. Without one, failures go to the app's `error` event. */
  readonly logger?: Logger | undefined;
  /** Whether the logger is told of each request; true when absent. */
  readonly accessLog?: boolean | undefined;
  /** Names who asks: what an idempotency key belongs to. Everybody is one caller when absent. */
  readonly caller?: ((ctx: Context) => string) | undefined;
}

/** Options of the whole program's app. */
export interface RostrumAppOptions extends RostrumHttpOptions {
  /** Fulfilled when the store can serve right now: what `/readyz` asks. */
  readonly ready: () => Promise<void>;
}

/** Options with their defaults. */
export interface ResolvedOptions {
  /** The segments of the prefix. */
  readonly under: readonly string[];
  readonly requireIfMatch: boolean;
  readonly logger: Logger | undefined;
  readonly accessLog: boolean;
  readonly caller: (ctx: Context) => string;
}

/** @throws TypeError for a prefix that no path begins with */
export function resolveOptions({
  prefix = '/api/v1',
  requireIfMatch = false,
  logger,
  accessLog = true,
  caller = () => '',
}: RostrumHttpOptions): ResolvedOptions {
  return { under: prefixSegments(prefix), requireIfMatch, logger, accessLog, caller };
}
