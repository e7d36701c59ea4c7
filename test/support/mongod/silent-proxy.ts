import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A proxy between a client and a local server that can block all data, like a network that drops packets: it
 * keeps connections open and accepts new ones, but forwards nothing.
 */
export class SilentProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #silent = false;

  /** Starts the proxy in front of this port. Without a port, it is always blocked. */
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

  /** The number of connections of clients and to the server. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Stops forwarding data. */
  block(): void {
    this.#silent = true;
  }

  /** Closes all blocked connections. New connections work again. */
  unblock(): void {
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
