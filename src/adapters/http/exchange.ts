import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';

/** What is known of a request from its first moment on. */
export interface Exchange {
  readonly requestId: string;
  /** The path that the pages of the kinds of problems lie under. */
  readonly problems: string;
}

const exchanges = new WeakMap<IncomingMessage, Exchange>();

export function beginExchange(ctx: Context, exchange: Exchange): void {
  exchanges.set(ctx.req, exchange);
}

export function exchangeOf(ctx: Context): Exchange {
  const exchange = exchanges.get(ctx.req);
  if (exchange === undefined) throw new Error('The request did not pass the boundary.');
  return exchange;
}
