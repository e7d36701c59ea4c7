import type { Context } from 'koa';
import type { Logger } from '../../ports/logger.ts';
import { sendAnswer } from './answer.ts';
import { isLargeRest } from './body-form.ts';
import { RequestAborted } from './body-watch.ts';
import { maxTargetLength } from './limits.ts';
import { loggedPath } from './paths.ts';
import { Problem, problemBody, problemHeaders, toProblem } from './problems.ts';
import { requestIdFrom } from './request-id.ts';

export interface BoundaryOptions {
  readonly logger: Logger | undefined;
  /** Whether each request is logged. */
  readonly accessLog: boolean;
}

/**
 * What surrounds all else: gives the request its id, turns what is thrown into an answer of the
 * contract's one shape, and logs.
 */
export async function withinBoundary(
  ctx: Context,
  problems: string,
  { logger, accessLog }: BoundaryOptions,
  answer: () => Promise<void>,
): Promise<void> {
  const requestId = requestIdFrom(ctx.headers['x-request-id']);
  if (logger && accessLog) logWhenDone(ctx, requestId, logger);
  try {
    if (ctx.originalUrl.length > maxTargetLength) throw uriTooLong();
    await answer();
  } catch (error) {
    if (error instanceof RequestAborted) {
      ctx.respond = false; // There is nobody left to answer.
      return;
    }
    const problem = toProblem(error);
    report(ctx, problem, requestId, logger);
    const body = JSON.stringify(problemBody(problem, { requestId, problems }));
    sendAnswer(ctx, { status: problem.kind.status, headers: problemHeaders(problem), body });
  }
  if (isLargeRest(ctx.req)) ctx.set('Connection', 'close');
  ctx.set({ 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff' });
}

function uriTooLong(): Problem {
  const sentence = `The path and the query must have at most ${maxTargetLength} characters.`;
  return new Problem('uri-too-long', sentence);
}

/** What the operator has to know. Without a logger it goes where the app's other errors go. */
function report(
  ctx: Context,
  problem: Problem,
  requestId: string,
  logger: Logger | undefined,
): void {
  if (problem.kind.status < 500) return;
  const { cause } = problem;
  const fields = {
    requestId,
    code: problem.code,
    method: ctx.method,
    path: loggedPath(ctx.originalUrl),
  };
  if (problem.code !== 'internal') logger?.warn({ ...fields, err: cause }, problem.message);
  else if (logger) logger.error({ ...fields, err: cause }, 'The request failed.');
  else ctx.app.emit('error', cause instanceof Error ? cause : new Error(String(cause)), ctx);
}

/** One line a request, when its answer was sent or its client is gone. Never a query or a body. */
function logWhenDone(ctx: Context, requestId: string, logger: Logger): void {
  const { method, res } = ctx;
  const path = loggedPath(ctx.originalUrl);
  const start = performance.now();
  res.once('close', () => {
    const ms = Math.round((performance.now() - start) * 10) / 10;
    const outcome = res.writableFinished ? { status: res.statusCode } : { aborted: true };
    logger.info({ requestId, method, path, ...outcome, ms }, 'request');
  });
}
