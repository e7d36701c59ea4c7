import { isRostrumError, storeUnavailable } from '../../../domain/errors.ts';
import type { Context } from '../context.ts';
import { sendJson } from '../send.ts';

/** How long a store can take to say that it is ready, in milliseconds. */
const readyTimeoutMs = 2000;

/** Responds that all is well. */
export function sendOk(ctx: Context): void {
  sendJson(ctx, { status: 'ok' }, 'no-store');
}

/**
 * Returns a function that checks whether the store is ready. Concurrent callers share one check. It throws
 * `store-unavailable` if the store is not, whatever the reason.
 */
export function readiness(ready: () => Promise<void>): () => Promise<void> {
  let asked: Promise<void> | undefined;
  return () => {
    asked ??= ask(ready).finally(() => {
      asked = undefined;
    });
    return asked;
  };
}

async function ask(ready: () => Promise<void>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(storeUnavailable('none')), readyTimeoutMs);
  try {
    await Promise.race([ready(), late]);
  } catch (cause) {
    throw isRostrumError(cause, 'store-unavailable') ? cause : storeUnavailable('none', cause);
  } finally {
    clearTimeout(timer);
  }
}
