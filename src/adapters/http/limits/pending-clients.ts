import type { Socket } from 'node:net';

/** How long a client can stall while others wait for its slot, in milliseconds. */
export const stallMs = 1000;

/** Sockets that wait for their clients to send a body or read a response. */
export class PendingClients {
  /** Each with the timeout that it had before {@link closeStalled}, if that was called. */
  readonly #sockets = new Map<Socket, number | undefined>();

  get size(): number {
    return this.#sockets.size;
  }

  add(socket: Socket): void {
    this.#sockets.set(socket, undefined);
  }

  /** Returns true if the connection was closed because the client stalled. */
  delete(socket: Socket): boolean {
    const timeout = this.#sockets.get(socket);
    this.#sockets.delete(socket);
    if (timeout === undefined) return false;
    if (!socket.destroyed) socket.setTimeout(timeout);
    return socket.destroyed;
  }

  /** Closes the connections that stall from now on. Progress within one large write counts, too. */
  closeStalled(): void {
    for (const [socket, timeout] of this.#sockets) {
      if (timeout !== undefined) continue;
      this.#sockets.set(socket, socket.timeout ?? 0);
      socket.setTimeout?.(stallMs); // A mocked socket has no such method.
    }
  }
}
