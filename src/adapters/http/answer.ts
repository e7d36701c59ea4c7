import type { Context } from 'koa';

/** What an endpoint answers, as a value. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON text; absent for an answer without a body. */
  readonly body?: string;
}

const jsonType = 'application/json';

/** Writes an answer. Koa leaves the body out for HEAD, and keeps its headers. */
export function sendAnswer(ctx: Context, { status, headers = {}, body }: Answer): void {
  if (body === undefined) {
    ctx.body = null;
    ctx.status = status;
    ctx.set(headers);
    return;
  }
  ctx.status = status;
  ctx.set({ 'Content-Type': jsonType, ...headers });
  ctx.body = body;
}
