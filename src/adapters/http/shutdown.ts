import type { IncomingMessage, Server } from 'node:http';
import type { Connections } from './connections.ts';
import { splitTarget } from './paths.ts';
import { Problem } from './problems.ts';

/** For how long a connection without a request may still bring one, to be told that it is late. */
const lateMs = 500;

/** The orderly end of a server. */
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
  problem(request: IncomingMessage): Problem | undefined {
    if (this.#closed === undefined || splitTarget(request.url ?? '').path === '/livez') {
      return undefined;
    }
    return new Problem('shutting-down', 'The server is shutting down; nothing was changed.');
  }

  begin(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve()); // Closes idle connections, too.
    for (const response of this.#connections.responses()) {
      if (!response.headersSent) response.setHeader('Connection', 'close');
    }
    const late = setInterval(
      () => this.#connections.destroyIdle(),
      Math.min(lateMs, this.#timeoutMs),
    );
    const bound = setTimeout(() => this.#connections.destroyAll(), this.#timeoutMs);
    await promise;
    clearInterval(late);
    clearTimeout(bound);
  }
}
