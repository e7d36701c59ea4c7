import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * Stands between a client and a server on this machine, and can fall silent: connections stay and
 * new ones are taken, but nothing goes through any more. What a network does that swallows packets.
 */
export class SilentProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #silent = false;

  /** In front of this port; in front of nothing when there is none. */
  static async start(port?: number): Promise<SilentProxy> {
    const proxy = new SilentProxy(port);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  private constructor(port: number | undefined) {
    this.#silent = port === undefined;
    this.#server = createServer((client) => {
      this.#keep(client);
      if (port === undefined) return;
      const server = this.#keep(connect(port, '127.0.0.1'));
      this.#hand(client, server);
      this.#hand(server, client);
    });
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('It does not listen.');
    return address.port;
  }

  /** How many connections there are, of clients and to the server. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** From now on, nothing goes through. */
  fallSilent(): void {
    this.#silent = true;
  }

  /** Connections of the silence are lost; new ones are as they should be. */
  speak(): void {
    this.#silent = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #keep(socket: Socket): Socket {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
    return socket;
  }

  #hand(from: Socket, to: Socket): void {
    from.on('data', (chunk) => {
      if (!this.#silent) to.write(chunk);
    });
    from.on('close', () => {
      if (!this.#silent) to.destroy();
    });
  }
}
