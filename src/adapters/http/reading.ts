import type { Context } from 'koa';
import { sendAnswer } from './answer.ts';
import { Problem } from './problems.ts';

const headers = { Allow: 'GET, HEAD, OPTIONS' };

/**
 * For what can only be read: answers OPTIONS, and refuses other methods.
 *
 * @returns true when nothing is left to be answered
 * @throws Problem `method-not-allowed`
 */
export function isOnlyOptions(ctx: Context): boolean {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return false;
  if (ctx.method !== 'OPTIONS') {
    throw new Problem('method-not-allowed', `${ctx.method} is not allowed on this path.`, {
      headers,
    });
  }
  sendAnswer(ctx, { status: 204, headers });
  return true;
}
