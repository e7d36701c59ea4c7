import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Logger } from '../../../ports/logger.ts';
import { maxTargetLength } from '../limits.ts';
import { Problem } from '../problems.ts';
import type { Connections } from './connections.ts';
import { refuseSocket } from './raw-answer.ts';

/** What Node's HTTP parser and its timers end in. */
export interface ClientError extends Error {
  readonly code?: string;
  /** What was being parsed. */
  readonly rawPacket?: Uint8Array;
}

const timeout = 'The request did not arrive in time.';
const headers = 'The headers are larger than the server takes.';
const target = 'The path and the query are longer than the server takes.';
const extensions = 'The chunks of the body have extensions larger than the server takes.';
const malformed = 'This is not a well-formed HTTP request.';

function problemOf({ code, rawPacket }: ClientError): Problem {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('request-timeout', timeout);
    case 'HPE_HEADER_OVERFLOW':
      // Node does not tell a long first line from long headers.
      return rawPacket !== undefined && targetLength(rawPacket) > maxTargetLength
        ? new Problem('uri-too-long', target)
        : new Problem('headers-too-large', headers);
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Problem('body-too-large', extensions);
    default:
      return new Problem('bad-request', malformed);
  }
}

function targetLength(packet: Uint8Array): number {
  return /^[A-Z]+ (\S*)/.exec(Buffer.from(packet).toString('latin1'))?.[1]?.length ?? 0;
}

export interface ClientErrorContext {
  readonly connections: Connections;
  readonly problems: string;
  readonly logger: Logger | undefined;
}

/** Answers what Node's server refuses by itself, after the answers that are due before it. */
export function clientErrorHandler({
  connections,
  problems,
  logger,
}: ClientErrorContext): (error: ClientError, socket: Socket) => Promise<void> {
  const refused = new WeakSet<Socket>();

  return async (error, socket) => {
    if (refused.has(socket) || !socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    refused.add(socket);
    const incomplete = connections.incomplete(socket);
    await connections.answered(socket);
    if (incomplete?.response.headersSent || !socket.writable) {
      socket.destroy(); // Its request has an answer already; another one would be for nobody.
      return;
    }
    const problem = problemOf(error);
    const requestId = randomUUID();
    const { code, kind } = problem;
    logger?.info({ requestId, status: kind.status, code, cause: error.code }, 'refused');
    refuseSocket(socket, problem, { requestId, problems });
  };
}
