import type { IncomingMessage } from 'node:http';
import type { Logger } from '../../../ports/logger.ts';
import type { Audit, Exchange, Target } from '../exchange.ts';
import type { Problem } from '../problems/problem.ts';
import { logged } from './mask.ts';

/** What load balancers ask all the time. */
const probes: ReadonlySet<string> = new Set(['/livez', '/readyz']);

/** One line a request, when its response was taken or its client is gone. */
export function logAtEnd(exchange: Exchange, logger: Logger): void {
  const { req, res } = exchange;
  const { bytesWritten: before } = req.socket;
  const start = performance.now();
  exchange.atEnd(() => {
    const isProbe = probes.has(exchange.endpoint);
    if (isProbe && logger.debug === undefined) return;
    const { endpoint, problem } = exchange;
    const ms = Math.round((performance.now() - start) * 10) / 10;
    const fields: Record<string, unknown> = {
      method: req.method,
      path: loggedPath(exchange.target),
    };
    if (endpoint !== '') fields.endpoint = endpoint;
    if (exchange.isSent) fields.status = res.statusCode;
    else fields.aborted = true;
    if (problem !== undefined) fields.code = problem;
    if (exchange.refused !== undefined) fields.reason = exchange.refused;
    const bytes = req.socket.bytesWritten - before;
    if (bytes >= 0) fields.bytes = bytes; // What stands in for a connection may not count.
    fields.ms = ms;
    addClient(fields, exchange);
    const agent = userAgent(req);
    if (agent !== undefined) fields.userAgent = agent;
    if (isProbe) logger.debug?.(fields, 'request');
    else logger.info(fields, 'request');
  });
}

/** One line a change, when it is durable and before its response: its caller, and what was changed. */
export function auditLog(logger: Logger | undefined): Audit {
  if (logger === undefined) return () => {};
  return (exchange, change) => {
    const fields = { endpoint: exchange.endpoint, ...change };
    addClient(fields, exchange);
    logger.info(fields, 'change');
  };
}

/**
 * Tells of requests that the server failed. While a store is away, each of them fails: warnings of one
 * code are some time apart. What may have been changed is told of each time.
 */
export function failureLog(logger: Logger): (exchange: Exchange, problem: Problem) => void {
  const repeats = new Repeats();
  return (exchange, { code, cause, message, parts }) => {
    const outcome = parts.members?.outcome;
    const isWarning = code !== 'internal';
    const omitted = isWarning && outcome !== 'unknown' ? repeats.take(code) : 0;
    if (omitted === undefined) return;
    const { req, endpoint, target } = exchange;
    const fields: Record<string, unknown> = { method: req.method, path: loggedPath(target) };
    if (endpoint !== '') fields.endpoint = endpoint;
    fields.code = code;
    if (outcome !== undefined) fields.outcome = outcome;
    if (omitted > 0) fields.omitted = omitted;
    addClient(fields, exchange);
    fields.err = cause;
    if (isWarning) logger.warn(fields, message);
    else logger.error(fields, 'The request failed.');
  };
}

/** For how long, in milliseconds, a warning is not repeated. */
const repeatMs = 10_000;

/** When each warning was last written, and how often it was not since. */
export class Repeats {
  readonly #last = new Map<string, { readonly at: number; omitted: number }>();

  /** @returns how many were omitted before this one; undefined where it is omitted, too */
  take(code: string): number | undefined {
    const last = this.#last.get(code);
    const at = performance.now();
    if (last !== undefined && at - last.at < repeatMs) {
      last.omitted += 1;
      return undefined;
    }
    this.#last.set(code, { at, omitted: 0 });
    return last?.omitted ?? 0;
  }
}

/** Names the client and its request. */
function addClient(fields: Record<string, unknown>, exchange: Exchange): void {
  const { address, caller, requestId, traceId } = exchange;
  fields.address = address;
  if (caller !== undefined) fields.caller = logged(caller.name);
  fields.requestId = logged(requestId);
  if (traceId !== undefined) fields.traceId = traceId;
}

/** What a client calls itself, as far as a line of the log has it. */
export function userAgent({ headers }: IncomingMessage): string | undefined {
  const agent = headers['user-agent'];
  return agent === undefined ? undefined : logged(agent);
}

/** What of a target the log may have: never the query, nor what stands behind a `#`. */
export function loggedPath({ path }: Target): string {
  return logged(path.split('#', 1).join());
}
