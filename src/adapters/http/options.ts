import type { Context } from 'koa';
import type { Logger } from '../../ports/logger.ts';

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
  /**
   * Names who asks: an idempotency key belongs to its caller. Asked when the endpoint is known,
   * and before anything else of the request is looked at. Everybody is one caller when absent.
   */
  readonly caller?: ((ctx: Context) => string | Promise<string>) | undefined;
}

/** Options of the whole program's app. */
export interface RostrumAppOptions extends RostrumHttpOptions {
  /** Fulfilled when the store can serve right now: what `/readyz` asks. */
  readonly ready: () => Promise<void>;
}
