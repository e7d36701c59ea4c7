import type { Context } from 'koa';
import { storeUnavailable } from '../../domain/errors.ts';
import { sendAnswer } from './answer.ts';
import { isOnlyOptions } from './reading.ts';

/** How long a store may take to say that it is ready. */
const readyTimeoutMs = 2000;

/** `/livez`: the process answers. */
export function sendLive(ctx: Context): void {
  if (isOnlyOptions(ctx)) return;
  sendOk(ctx);
}

/**
 * `/readyz`: the store can serve right now.
 *
 * @throws RostrumError `store-unavailable`
 */
export async function sendReady(ctx: Context, ready: () => Promise<void>): Promise<void> {
  if (isOnlyOptions(ctx)) return;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(storeUnavailable('none')), readyTimeoutMs);
  try {
    await Promise.race([ready(), late]);
  } finally {
    clearTimeout(timer);
  }
  sendOk(ctx);
}

function sendOk(ctx: Context): void {
  const headers = { 'Cache-Control': 'no-store' };
  sendAnswer(ctx, { status: 200, headers, body: JSON.stringify({ status: 'ok' }) });
}
