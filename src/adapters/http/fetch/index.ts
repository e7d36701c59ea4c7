/** Rostrum for hosts that pass a `Request` and send a `Response`: Next, SvelteKit, Hono, Deno. */
import type { AnyRostrum } from '../../../domain/services/rostrum.ts';
import { standalone } from '../middleware.ts';
import type { RostrumAppOptions, RostrumHttpOptions } from '../options.ts';
import { type AddressOf, type FetchHandler, fetchHandler } from './handler.ts';

export type { FetchHandler } from './handler.ts';

/** How Rostrum is put where a `Request` comes in. */
export interface FetchHandlerOptions
  extends RostrumHttpOptions,
    Pick<RostrumAppOptions, 'isOwnHost'> {
  /**
   * Finds the address of a client, for the log and for limits: a `Request` has none. Without it, and
   * without trusted proxies, the log has no address, and all clients share the limit of one.
   */
  readonly address?: AddressOf | undefined;
}

/**
 * Rostrum as a function from `Request` to `Response`. It needs no server: nothing listens, and nothing
 * has to be closed but the store. What does not lie under the prefix is 404.
 *
 * The body of a request is read as it comes, up to the limit, and not read at all where the request is
 * refused before. The promise is rejected, and the body of a response fails, with the reason of
 * `request.signal` once that is aborted.
 *
 * @throws TypeError for an option that cannot be used
 */
export function createFetchHandler(
  rostrum: AnyRostrum,
  options: FetchHandlerOptions = {},
): FetchHandler {
  return fetchHandler(standalone(rostrum, options), options.address);
}
