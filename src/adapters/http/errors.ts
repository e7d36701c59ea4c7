import { STATUS_CODES } from 'node:http';
import { inspect } from 'node:util';
import type Koa from 'koa';
import { isRostrumError } from '../../domain/errors.ts';
import type { Logger } from '../../ports/logger.ts';
import { type Context, type Middleware, RequestAborted } from './context.ts';
import { failureLog } from './operator/log.ts';
import { entityTag, versionMismatch } from './preconditions.ts';
import { Problem, problemHeaders, problemResponse } from './problems/problem.ts';

/** Turns everything that is thrown into a problem. */
export function handleErrors(logger: Logger | undefined): Middleware {
  // Without a logger, the app's `error` event gets unexpected errors.
  const logFailure = logger && failureLog(logger);
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (error instanceof RequestAborted) {
        ctx.respond = false;
        return;
      }
      const isHttp = isHttpError(error);
      if (isHttp && error.expose) return sendHttpError(ctx, error);
      const problem = toProblem(error, ctx);
      const status = isHttp ? error.status : undefined;
      if (problem.status >= 500 && logFailure) logFailure(ctx, problem, status);
      else if (problem.cause !== undefined) ctx.app.emit('error', wrapCause(problem.cause), ctx);
      if (isHttp) return sendHttpError(ctx, error);
      const { rostrum } = ctx.state;
      rostrum.problem = problem;
      const { body, headers } = problemResponse(problem, rostrum.requestId, rostrum.problemsUrl);
      send(ctx, problem.status, headers, body);
    }
  };
}

/**
 * Responds to what middleware threw with a status, as with `ctx.throw(404)`: a problem without a type of its own
 * (RFC 9457, section 4.2.1). As in Koa, the message is for the client only if the error says so.
 */
function sendHttpError(ctx: Context, { status, headers, expose, message }: HttpError): void {
  const title = STATUS_CODES[status] ?? 'Error';
  const { requestId } = ctx.state.rostrum;
  const error = expose ? message : title;
  const body = { type: 'about:blank', title, status, error, detail: error, requestId };
  send(ctx, status, { ...problemHeaders, ...headers }, `${JSON.stringify(body)}\n`);
}

/** Headers about the content of a response, which don't hold for the problem that replaces it. */
const contentHeaders =
  /^(?:content-(?:encoding|disposition|language|range)|etag|last-modified|expires|link|location)$/;

function send(ctx: Context, status: number, headers: Record<string, string>, body: string): void {
  for (const name of ctx.res.getHeaderNames()) if (contentHeaders.test(name)) ctx.remove(name);
  ctx.status = status;
  ctx.set(headers);
  ctx.body = body;
}

/**
 * Wraps the cause: otherwise Koa would ignore an error with `expose`, and `reportErrors` one with a connection
 * code.
 */
function wrapCause(cause: unknown): Error {
  const error = new Error('A request failed.', { cause });
  error.stack += `\ncaused by ${inspect(cause)}`; // Koa prints the stack, but not the cause.
  return error;
}

/** Errors that nobody expected become an opaque 500. */
function toProblem(error: unknown, ctx: Context): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof Error && 'code' in error && error.code === 'credentials-unavailable') {
    const sentence = 'Credentials cannot be checked right now.';
    return new Problem(error.code, sentence, { cause: error });
  }
  // A taken id is one that the generator has produced twice: the client can do nothing about it.
  if (!isRostrumError(error) || error.code === 'id-taken') {
    const cause = error ?? new Error(`${error} was thrown.`);
    return new Problem('internal', 'Something went wrong on the server.', { cause });
  }
  const { message } = error;
  switch (error.code) {
    case 'forbidden': {
      const { scope, reason } = error.details;
      const namesMissingScope = reason === undefined || reason === 'not-own';
      const challenge = `Bearer error="insufficient_scope"${namesMissingScope ? `, scope="${scope}"` : ''}`;
      // RFC 6750, section 3.1: only if the request has credentials.
      const hasCredentials = ctx.state.rostrum.authenticatedCaller !== undefined;
      const parts = hasCredentials ? { headers: { 'WWW-Authenticate': challenge } } : {};
      return new Problem(error.code, message, parts);
    }
    case 'refused':
      return new Problem(error.code, message, { members: { reason: message } });
    case 'invalid-record': {
      const { issues, reason } = error.details;
      const sentence = reason === 'no-user' ? 'Create your user first: PUT /users/me.' : message;
      return new Problem(error.code, sentence, { errors: issues });
    }
    case 'email-taken':
    case 'field-taken':
      return new Problem(error.code, message, { errors: error.details.issues });
    case 'user-has-posts': {
      const sentence = `${message} Add ?posts=delete to delete posts, or ?posts=keep to keep them without an author.`;
      return new Problem(error.code, sentence, { members: { posts: error.details.posts } });
    }
    case 'version-mismatch': {
      const { version } = error.details;
      return versionMismatch(ctx.headers['if-match'], version > 0 ? entityTag(version) : undefined);
    }
    case 'store-unavailable':
      return new Problem(error.code, message, {
        members: { outcome: error.details.outcome },
        cause: error,
      });
    default:
      return new Problem(error.code, message);
  }
}

/** An error with a status, as `ctx.throw(403)` throws it. */
interface HttpError extends Error {
  readonly status: number;
  readonly expose?: boolean;
  readonly headers?: Record<string, string>;
}

function isHttpError(error: unknown): error is HttpError {
  if (!(error instanceof Error && 'status' in error) || error instanceof Problem) return false;
  const { status } = error;
  return typeof status === 'number' && status >= 400 && STATUS_CODES[status] !== undefined;
}

/** Error codes for connections closed by the client; `HPE_…` means that it disconnected in the middle of a request. */
const disconnectCode = /^(?:ECONNRESET|EPIPE|ECANCELED|ERR_STREAM_PREMATURE_CLOSE|HPE_\w+)$/;

/** Logs what an app reports: errors outside of every handler, and all errors if there is no logger. */
export function reportErrors(app: Koa, logger: Logger | undefined): void {
  app.on('error', (error: Error) => {
    if (isHttpError(error) && error.expose) return;
    if ('code' in error && disconnectCode.test(String(error.code))) return;
    if (logger) logger.error({ err: error }, 'Unhandled error in the Koa app.');
    // As in Koa, a listener of the host takes the place of the printed error.
    else if (app.listenerCount('error') === 1) app.onerror(error);
  });
}
