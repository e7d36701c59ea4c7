import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { splitTarget } from '../paths.ts';
import { Problem } from '../problems.ts';
import type { Connections } from './connections.ts';

/** For how long a connection without a request may still bring one, to be told that it is late. */
const lateMs = 500;

/**
 * The orderly end of a server. It goes on listening until the requests under way are done, so that
 * who asks whether it is ready, a load balancer on a connection of its own, is told that it is not.
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
    if (splitTarget(request.url ?? '').path === '/livez') return undefined;
    return new Problem('shutting-down', 'The server is shutting down; nothing was changed.');
  }

  begin(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    const bound = setTimeout(() => this.#connections.destroyAll(), this.#timeoutMs);
    await Promise.all(
      [...this.#connections.responses()].map((response) => {
        if (!response.headersSent) response.setHeader('Connection', 'close');
        return new Promise<void>((resolve) => response.once('close', () => resolve()));
      }),
    );

    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve()); // Closes idle connections, too.
    const late = setInterval(
      () => this.#connections.destroyIdle(),
      Math.min(lateMs, this.#timeoutMs),
    );
    await promise;
    clearInterval(late);
    clearTimeout(bound);
  }
}
