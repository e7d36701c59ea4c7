/** Rostrum for hosts that pass a `Request` and send a `Response`: Next, SvelteKit, Hono, Deno. */
import type { AnyRostrum } from '../../../domain/services/rostrum.ts';
import { createApiApp } from '../app.ts';
import { checkAppOptions } from '../check-options.ts';
import type { FetchHandlerOptions } from '../options.ts';
import { type FetchHandler, fetchHandler } from './handler.ts';

export type { FetchHandlerOptions } from '../options.ts';
export type { FetchHandler } from './handler.ts';

/**
 * Returns a function that serves Rostrum: it takes a `Request` and returns a `Response`. It needs no server.
 * Only the store has to be closed. Paths outside the prefix are 404.
 *
 * The body of a request is read as it comes, up to the limit, and not at all if the request is rejected before.
 * When `request.signal` is aborted, the promise and the body of the response fail with its reason.
 *
 * @throws TypeError for an unknown or invalid option
 */
export function createFetchHandler(
  rostrum: AnyRostrum,
  options: FetchHandlerOptions = {},
): FetchHandler {
  const app = createApiApp(rostrum, checkAppOptions(options, 'fetch'));
  return fetchHandler(app, options.address);
}
