import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { stopped, stopping } from '../exchange.ts';
import { Problem } from '../problems/problem.ts';
import { parseTarget } from '../request/target.ts';
import type { Connection, Connections } from './connections.ts';

/** For how long a connection without a request may still bring one, to be told that it is late. */
const lateMs = 500;

/**
 * The orderly end of a server. It goes on listening until the requests under way are done: a load
 * balancer that asks on a connection of its own is told that the server is not ready.
 */
export class Shutdown {
  readonly #server: Server;
  readonly #connections: Connections;
  readonly #timeoutMs: number;
  #closed: Promise<void> | undefined;

  constructor(server: Server, connections: Connections, timeoutMs: number) {
    this.#server = server;
    this.#connections = connections;
    this.#timeoutMs = timeoutMs;
  }

  /** Why a request comes too late, if it does. The process is alive to the end, and says so. */
  problem(request: IncomingMessage, response: ServerResponse): Problem | undefined {
    if (this.#closed === undefined) return undefined;
    response.setHeader('Connection', 'close');
    if (parseTarget(request.url ?? '').path === '/livez') return undefined;
    return new Problem('shutting-down', 'The server is shutting down; nothing was changed.');
  }

  begin(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    const bound = setTimeout(() => this.#destroy(() => true), this.#timeoutMs);
    for (const { response, hasWaiting } of this.#connections.all()) {
      // Requests that wait behind it are told that they are late, and the first ends the connection.
      if (response && !response.headersSent && !hasWaiting)
        response.setHeader('Connection', 'close');
      if (response === undefined) continue;
      stopped.add(response);
      response.emit(stopping);
    }
    // No list of connections lives on: one that ends in between lets go of its last response.
    await Promise.all(Array.from(this.#connections.all(), (connection) => connection.idle()));

    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve()); // Closes idle connections, too.
    const late = setInterval(
      () => this.#destroy(({ response }) => response === undefined),
      Math.min(lateMs, this.#timeoutMs),
    );
    await promise;
    clearInterval(late);
    clearTimeout(bound);
  }

  #destroy(which: (connection: Connection) => boolean): void {
    for (const connection of this.#connections.all()) {
      if (which(connection)) connection.socket.destroy();
    }
  }
}
