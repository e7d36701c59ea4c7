import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Problem } from '../problems/problem.ts';
import { maxTargetLength } from '../request/limits.ts';
import type { Response } from '../response.ts';
import type { Connections } from './connections.ts';
import type { Refusals } from './refusals.ts';
import { endOfTurn } from './send-together.ts';
import { drain, drainMs } from './unread-body.ts';

/** What Node's HTTP parser and its timers end in. */
export interface ClientError extends Error {
  readonly code?: string;
  /** What was being parsed. */
  readonly rawPacket?: Uint8Array;
}

/** Refuses what Node's server refuses by itself, in the one shape of all errors. */
export class ClientErrors {
  readonly #connections: Connections;
  readonly #refusals: Refusals;
  readonly #refused = new WeakSet<Socket>();

  constructor(connections: Connections, refusals: Refusals) {
    this.#connections = connections;
    this.#refusals = refusals;
  }

  /** Handles the event `clientError`. */
  async onError(error: ClientError, socket: Socket): Promise<void> {
    if (error.code === 'ECONNRESET') socket.destroy();
    else await this.refuse(socket, problemOf(error), error);
  }

  /** Sends a problem as the last response of a connection, behind those that are due before it. */
  async refuse(socket: Socket, problem: Problem, cause?: ClientError): Promise<void> {
    const connection = this.#connections.of(socket);
    if (connection === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    if (this.#refused.has(socket)) return;
    this.#refused.add(socket);
    // Off with the HTTP parser: what it would find now must not be served any more.
    socket.removeAllListeners('data').removeAllListeners('end');
    drain(socket, socket);
    await endOfTurn();
    const { incomplete } = connection;
    const origin = incomplete?.request.headers.origin ?? originIn(cause?.rawPacket);
    await connection.settled();
    // One that has its response already gets no other.
    if (incomplete?.response.headersSent) socket.end();
    else if (socket.writable) {
      // Of what is malformed no other header counts.
      const request = { socket, headers: { origin } };
      socket.end(textOf(this.#refusals.refuse(problem, request, { cause: cause?.code })));
    }
    const timer = setTimeout(() => socket.destroy(), drainMs);
    socket.once('end', () => socket.destroy()).once('close', () => clearTimeout(timer));
  }
}

function textOf({ status, headers, body }: Required<Response>): string {
  const all = [...headers, 'Date', new Date().toUTCString()];
  const lines = all.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${body}`;
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

/** The header `Origin` of what could not be parsed, where it has come already. */
function originIn(packet: Uint8Array = new Uint8Array()): string | undefined {
  return /\r\norigin:[ \t]*(\S+)/i.exec(Buffer.from(packet).toString('latin1'))?.[1];
}

function targetLength(packet: Uint8Array): number {
  return /^[A-Z]+ (\S*)/.exec(Buffer.from(packet).toString('latin1'))?.[1]?.length ?? 0;
}
