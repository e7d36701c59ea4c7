/** Rostrum for hosts that pass a `Request` and send a `Response`: Next, SvelteKit, Hono, Deno. */
import type { AnyRostrum } from '../../../domain/services/rostrum.ts';
import { createApiApp } from '../app.ts';
import type { RostrumAppOptions, RostrumHttpOptions } from '../options.ts';
import { type AddressOf, type FetchHandler, fetchHandler } from './handler.ts';

export type { FetchHandler } from './handler.ts';

/** Options of {@link createFetchHandler}. */
export interface FetchHandlerOptions
  extends RostrumHttpOptions,
    Pick<RostrumAppOptions, 'isOwnHost'> {
  /**
   * Returns the address of a client, for the log and for limits: a `Request` has none. Without it, and without
   * trusted proxies, the log has no addresses, and all clients share the limit of one.
   */
  readonly address?: AddressOf | undefined;
}

/**
 * Returns a function that serves Rostrum: it takes a `Request` and returns a `Response`. It needs no server.
 * Only the store has to be closed. Paths outside the prefix are 404.
 *
 * The body of a request is read as it comes, up to the limit, and not at all if the request is rejected before.
 * When `request.signal` is aborted, the promise and the body of the response fail with its reason.
 *
 * @throws TypeError for an invalid option
 */
export function createFetchHandler(
  rostrum: AnyRostrum,
  options: FetchHandlerOptions = {},
): FetchHandler {
  return fetchHandler(createApiApp(rostrum, options), options.address);
}
