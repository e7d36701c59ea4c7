import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { acceptedConnections } from '../limits/slots.ts';

/** How long a client can keep sending data that is discarded, in milliseconds. */
export const drainMs = 2000;

/** How many pipelined requests a connection can have; one more closes it. */
const maxPipelined = 16;

/**
 * In characters. The headers of requests in progress stay in memory. Each connection can have `ordinaryHeaders`; beyond
 * that, all connections share `longHeaders`, and a request that would exceed it closes its connection. So long headers
 * can't exhaust the heap, and only clients that send them compete for this space.
 */
const ordinaryHeaders = 4096;
const longHeaders = 32 * 1024 * 1024;

/** A connection: the requests in progress, the length of their headers, the last response, and the one before it. */
interface Connection {
  pending: number;
  headers: number;
  last?: ServerResponse;
  previous?: ServerResponse | undefined;
}

/** The open connections of a server, in the order in which they were accepted. */
export class Connections extends Map<Socket, Connection> {
  /** The length of all headers of requests in progress beyond `ordinaryHeaders`. */
  #longHeaders = 0;

  /**
   * Beyond `maxSize`, a connection replaces the oldest that has sent no request, else the oldest without a request in
   * progress; if there is neither, it is closed.
   */
  accept(socket: Socket, maxSize: number): void {
    if (this.size >= maxSize) {
      const old = this.#oldest() ?? socket;
      old.destroy();
      this.delete(old);
      if (old === socket) return;
    }
    acceptedConnections.count += 1;
    this.set(socket, { pending: 0, headers: 0 });
    socket.once('close', () => this.delete(socket));
    stopParserOnceDestroyed(socket);
  }

  /**
   * Waits for the responses before this one, because the requests of a connection are served one after another
   * (RFC 9112, section 9.3.2). Returns false if the connection is closed meanwhile.
   */
  async waitForEarlierResponses(response: ServerResponse): Promise<boolean> {
    const { req: request } = response;
    const { socket } = request;
    const connection = this.get(socket);
    if (connection === undefined || connection.pending >= maxPipelined) {
      socket.destroy();
      return false;
    }
    const { last } = connection;
    const length = request.rawHeaders.reduce((sum, text) => sum + text.length, 0);
    const long = Math.max(0, Math.min(length, connection.headers + length - ordinaryHeaders));
    this.#longHeaders += long;
    connection.headers += length;
    connection.pending += 1;
    connection.previous = last?.closed ? undefined : last;
    connection.last = response;
    response.once('close', () => {
      this.#longHeaders -= long;
      connection.headers -= length;
      connection.pending -= 1;
      if (request.complete || socket.destroyed) return;
      // Discard the rest of a body, because closing at once could cost the client its response.
      request.resume();
      const timer = setTimeout(() => socket.destroy(), drainMs);
      request.once('close', () => clearTimeout(timer));
    });
    if (this.#longHeaders > longHeaders) socket.destroy();
    else if (last?.closed === false) await whenClosed(last);
    return !socket.destroyed;
  }

  /** Returns the oldest connection that has sent no request, else the oldest without a request in progress. */
  #oldest(): Socket | undefined {
    let idle: Socket | undefined;
    for (const [socket, { pending, last }] of this) {
      if (last === undefined) return socket;
      if (pending === 0) idle ??= socket;
    }
    return idle;
  }

  /** The connections without a request in progress. */
  idle(): Socket[] {
    return Array.from(this).flatMap(([socket, { pending }]) => (pending === 0 ? [socket] : []));
  }
}

/** Fulfilled when a response is complete, or its connection is closed. */
export async function whenClosed(response: ServerResponse | undefined): Promise<void> {
  if (response?.closed === false) await new Promise((resolve) => response.once('close', resolve));
}

/**
 * Makes Node's parser stop when the connection is destroyed: it would build all requests of the chunk that it has read,
 * which can be a thousand. `onIncoming` is not documented; test/adapters/http/server/parser.slow.ts tests it.
 */
function stopParserOnceDestroyed(socket: Socket): void {
  const { parser } = socket as unknown as { readonly parser?: { onIncoming: OnIncoming } };
  const own = parser?.onIncoming;
  if (parser === undefined || own === undefined) return;
  parser.onIncoming = function onIncoming(request, isKept) {
    return socket.destroyed ? upgrade : own.call(this, request, isKept);
  };
}

/** What `onIncoming` returns for an upgrade: the parser reads no further. */
const upgrade = 2;

type OnIncoming = (this: unknown, request: IncomingMessage, isKept: boolean) => number;
