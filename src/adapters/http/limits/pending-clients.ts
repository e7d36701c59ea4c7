import type { Socket } from 'node:net';

/** How long a client can stall while others wait for its slot, in milliseconds. */
export const stallMs = 1000;

/** Sockets that wait for their clients to send a body or read a response. */
export class PendingClients {
  /** Each with the end of its {@link watchStall}, if there is one. */
  readonly #sockets = new Map<Socket, (() => boolean) | undefined>();

  get size(): number {
    return this.#sockets.size;
  }

  add(socket: Socket): void {
    this.#sockets.set(socket, undefined);
  }

  /** Returns true if the connection was closed because the client stalled. */
  delete(socket: Socket): boolean {
    const endWatch = this.#sockets.get(socket);
    this.#sockets.delete(socket);
    return endWatch?.() ?? false;
  }

  /** Closes the connections that stall from now on. Progress within one large write counts, too. */
  closeStalled(): void {
    for (const [socket, endWatch] of this.#sockets) {
      if (endWatch === undefined) this.#sockets.set(socket, watchStall(socket));
    }
  }
}

/** Sets a short timeout. Returns a function that ends it, and returns true if it has closed the connection. */
function watchStall(socket: Socket): () => boolean {
  const { timeout = 0 } = socket;
  let hasStalled = false;
  const onTimeout = () => {
    hasStalled = true;
  };
  socket.once('timeout', onTimeout);
  socket.setTimeout?.(stallMs); // A mocked socket has no such method.
  return () => {
    socket.off('timeout', onTimeout);
    // After a complete response, Node has set its idle timeout instead.
    if (!socket.destroyed && socket.timeout === stallMs) socket.setTimeout(timeout);
    return hasStalled && socket.destroyed;
  };
}
