import { inspect } from 'node:util';
import type Koa from 'koa';
import type { Context, Middleware, Next } from 'koa';
import type { Logger } from '../../ports/logger.ts';
import { clientAddresses } from './access/client-address.ts';
import { Cors } from './access/cors.ts';
import { rateLimitHeaders } from './access/rate-limit.ts';
import { Exchange, RequestAborted } from './exchange.ts';
import { failureLog, logAtEnd } from './operator/log.ts';
import { countAtEnd } from './operator/metrics.ts';
import type { RostrumAppOptions, RostrumHttpOptions } from './options.ts';
import { Problem, problemResponse, toProblem } from './problems/problem.ts';
import { maxTargetLength } from './request/limits.ts';
import { requestIdFrom } from './request/request-id.ts';
import { parseTarget, publicBase } from './request/target.ts';
import { traceIdFrom } from './request/trace-parent.ts';
import { commonHeaders, respond, setHeaders } from './response.ts';
import { endOfTurn } from './server/send-together.ts';
import { endOfBody, isBodyDue, sendBeforeBody } from './server/unread-body.ts';

/**
 * What surrounds all else: gives the request its id, logs it, turns what is thrown into a problem, and
 * adds the headers that all responses have.
 *
 * @throws TypeError for an option that cannot be used
 */
export function createBoundary(
  options: RostrumHttpOptions & Pick<RostrumAppOptions, 'isOwnHost'>,
): Middleware {
  const { logger, accessLog = true, metrics, trace, isOwnHost } = options;
  const cors = new Cors(options.cors);
  const publicUrl = publicBase(options.publicUrl);
  const addressOf = clientAddresses(options.trustedProxies);
  // Without a logger, the app's `error` event has what was not expected.
  const fail = logger && failureLog(logger);
  return (ctx, next) => {
    const { headers } = ctx.req;
    const exchange = new Exchange(ctx, {
      publicUrl,
      address: addressOf(ctx.req),
      requestId: requestIdFrom(headers['x-request-id']),
      traceId: traceIdFrom(headers.traceparent),
      target: parseTarget(ctx.url),
    });
    ctx.state.exchange = exchange;
    if (logger && accessLog) logAtEnd(exchange, logger);
    if (metrics) countAtEnd(exchange, metrics);
    return trace ? trace(exchange, () => serve(ctx, exchange, next)) : serve(ctx, exchange, next);
  };

  async function serve(ctx: Context, exchange: Exchange, next: Next): Promise<void> {
    try {
      if (ctx.originalUrl.length > maxTargetLength) throw uriTooLong();
      if (isOwnHost !== undefined) checkHost(exchange, isOwnHost);
      await next();
    } catch (error) {
      if (error instanceof RequestAborted) {
        ctx.respond = false;
        return;
      }
      const problem = toProblem(error, exchange.headers);
      exchange.problem = problem.code;
      if (problem.status >= 500 && fail) fail(exchange, problem);
      else if (problem.cause !== undefined) ctx.app.emit('error', failed(problem.cause), ctx);
      respond(ctx, problemResponse(problem, exchange.requestId, exchange.problems));
    }
    if (ctx.respond === false || ctx.headerSent) return;
    setHeaders(ctx, commonHeaders(exchange.requestId));
    setHeaders(ctx, rateLimitHeaders(exchange.quotas));
    if (!cors.isOff) setHeaders(ctx, cors.headersFor(ctx.req));
    // Under load a turn is long, and what is refused goes first: behind the body that came along with it.
    if (ctx.status !== 503) await endOfTurn();
    else if (isBodyDue(ctx.req)) await Promise.race([endOfBody(ctx.req), endOfTurn()]);
    if (isBodyDue(ctx.req)) sendBeforeBody(ctx, () => (exchange.isSentEarly = true));
  }
}

/** Not the cause itself: an error of Koa's for a client, or of a connection, would not count as a failure. */
function failed(cause: unknown): Error {
  const error = new Error('A request failed.', { cause });
  error.stack += `\ncaused by ${inspect(cause)}`; // Koa prints the stack and no cause.
  return error;
}

/** @throws Problem `misdirected-request` */
function checkHost({ host }: Exchange, isOwn: (name: string) => boolean): void {
  // HTTP/1.0 knows no Host: no browser speaks it.
  if (host === undefined || isOwn(host.toLowerCase().replace(/:\d*$/, ''))) return;
  throw new Problem('misdirected-request', 'The Host of the request is no name of this server.');
}

function uriTooLong(): Problem {
  const sentence = `The path and the query must have at most ${maxTargetLength} characters.`;
  return new Problem('uri-too-long', sentence);
}

/** What `ctx.throw(403)` throws: Koa sends it, and it is no failure. */
export function isForClient(error: unknown): boolean {
  return error instanceof Error && 'expose' in error && error.expose === true;
}

/** Errors of a connection that its client ended. */
const goneCodes = new Set(['ECONNRESET', 'EPIPE', 'ECANCELED', 'ERR_STREAM_PREMATURE_CLOSE']);

/**
 * Takes what an app reports: what fails outside of every handler, such as the sending of a
 * response, and all failures where there is no logger. Those go to standard error, by Koa.
 */
export function handleAppErrors(app: Koa, logger: Logger | undefined): void {
  app.on('error', (error: Error) => {
    if (isForClient(error) || ('code' in error && goneCodes.has(String(error.code)))) return;
    if (logger) logger.error({ err: error }, 'A response could not be sent.');
    else app.onerror(error);
  });
}
