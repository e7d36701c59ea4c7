import { STATUS_CODES } from 'node:http';
import Koa, { type Context, type Next } from 'koa';
import { DomainError, type ErrorCode } from '../../domain/errors.ts';

/** The only place where errors of the domain get a status. */
const statuses: Readonly<Record<ErrorCode, number>> = {
  'invalid-input': 422,
  'invalid-query': 400,
  'note-not-found': 404,
  'owner-not-found': 404,
  'quota-exceeded': 409,
  'unknown-owner': 422,
  'version-mismatch': 412,
};

/** Turns errors into problem details (RFC 9457). */
export async function handleErrors(ctx: Context, next: Next): Promise<void> {
  try {
    await next();
    // The router found no route for the path (404) or for the method (405, 501).
    if (ctx.status >= 400) sendProblem(ctx, ctx.status);
  } catch (error) {
    if (error instanceof DomainError) {
      const { code, message: detail, issues: errors } = error;
      sendProblem(ctx, statuses[code], { type: `/problems/${code}`, detail, errors });
    } else if (error instanceof Koa.HttpError && error.expose) {
      sendProblem(ctx, error.status, { detail: error.message });
    } else {
      // Koa logs the error. The response has no details, because they may be confidential.
      ctx.app.emit('error', error, ctx);
      sendProblem(ctx, 500);
    }
  }
}

function sendProblem(ctx: Context, status: number, members: object = {}): void {
  ctx.status = status;
  ctx.type = 'application/problem+json';
  ctx.body = { title: STATUS_CODES[status], status, ...members };
}
