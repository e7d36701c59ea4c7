import type { IncomingMessage } from 'node:http';
import type { Logger } from '../../ports/logger.ts';
import type { Exchange } from './exchange.ts';
import { loggedPath } from './request/target.ts';

/** How many characters of a text that a client made up a line has. */
const maxTextLength = 256;

/** What load balancers ask all the time. */
const probes: ReadonlySet<string> = new Set(['/livez', '/readyz']);

/** One line a request, when its response was taken or its client is gone. */
export function logAtEnd(exchange: Exchange, logger: Logger): void {
  // Asked for now: a connection that is gone has no address.
  const { req, res, address } = exchange;
  const { bytesWritten: before } = req.socket;
  const start = performance.now();
  res.on('close', () => {
    const isProbe = probes.has(exchange.endpoint);
    if (isProbe && logger.debug === undefined) return;
    const { requestId, traceId, endpoint, caller, problem } = exchange;
    const ms = Math.round((performance.now() - start) * 10) / 10;
    const bytes = req.socket.bytesWritten - before;
    const fields: Record<string, unknown> = {
      method: req.method,
      path: loggedPath(exchange.target),
    };
    if (endpoint !== '') fields.endpoint = endpoint;
    if (res.writableFinished) fields.status = res.statusCode;
    else fields.aborted = true;
    if (problem !== undefined) fields.code = problem;
    fields.bytes = bytes;
    fields.ms = ms;
    fields.address = address;
    if (caller !== undefined) fields.caller = bounded(caller.name);
    fields.requestId = requestId;
    if (traceId !== undefined) fields.traceId = traceId;
    const agent = userAgent(req);
    if (agent !== undefined) fields.userAgent = agent;
    if (isProbe) logger.debug?.(fields, 'request');
    else logger.info(fields, 'request');
  });
}

/** What a client calls itself, as far as a line of the log has it. */
export function userAgent({ headers }: IncomingMessage): string | undefined {
  const agent = headers['user-agent'];
  return agent === undefined ? undefined : bounded(agent);
}

function bounded(text: string): string {
  return text.length > maxTextLength ? text.slice(0, maxTextLength) : text;
}
