import { setTimeout as sleep } from 'node:timers/promises';
import { isRostrumError, storeUnavailable } from '../../../domain/errors.ts';
import { type Context, sendJson } from '../context.ts';

/** How long a store can take to say that it is ready, in milliseconds. */
const readyTimeoutMs = 2000;

export function sendOk(ctx: Context): void {
  sendJson(ctx, { status: 'ok' }, 'no-store');
}

/**
 * Returns a function that checks whether the store is ready. Concurrent callers share one check. It throws
 * `store-unavailable` if the store is not ready, for any reason.
 */
export function readiness(ready: () => Promise<void>): () => Promise<void> {
  let pending: Promise<void> | undefined;
  return () => {
    pending ??= check(ready).finally(() => {
      pending = undefined;
    });
    return pending;
  };
}

async function check(ready: () => Promise<void>): Promise<void> {
  try {
    const late = sleep(readyTimeoutMs, 'late', { ref: false });
    if ((await Promise.race([ready(), late])) === 'late') throw storeUnavailable('none');
  } catch (cause) {
    throw isRostrumError(cause, 'store-unavailable') ? cause : storeUnavailable('none', cause);
  }
}
