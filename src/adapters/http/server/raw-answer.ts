import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type Problem, type ProblemContext, problemBody, problemHeaders } from '../problems.ts';
import { linger } from './linger.ts';

/**
 * What the server itself has to answer, where the app has not seen the request: the same shape as
 * every other error. The connection ends with it.
 */
function render(
  problem: Problem,
  context: ProblemContext,
): { headers: Readonly<Record<string, string>>; body: string } {
  const body = JSON.stringify(problemBody(problem, context));
  const headers = {
    ...problemHeaders(problem),
    'X-Request-Id': context.requestId,
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': String(Buffer.byteLength(body)),
    Date: new Date().toUTCString(),
    Connection: 'close',
  };
  return { headers, body };
}

/** Answers a request that is well-formed so far. */
export function refuse(response: ServerResponse, problem: Problem, context: ProblemContext): void {
  const { headers, body } = render(problem, context);
  response.writeHead(problem.kind.status, headers);
  response.end(body);
}

/** Answers what is no request: there is only a socket. */
export function refuseSocket(socket: Socket, problem: Problem, context: ProblemContext): void {
  const { headers, body } = render(problem, context);
  const { status } = problem.kind;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  linger(socket);
}
