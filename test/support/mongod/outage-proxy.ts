import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Kinds of network outages. */
export const outages = [
  /** Drops data in both directions, without closing connections. */
  'black hole',
  /** Resets connections, including new ones. */
  'reset',
  /** Forwards requests, but drops replies. */
  'half-open',
  /** Closes connections in the middle of a reply. */
  'truncated',
] as const;

export type Outage = (typeof outages)[number];

/** A proxy between a client and a local server that simulates network outages. */
export class OutageProxy implements AsyncDisposable {
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((client) => this.#join(client));
  #outage: Outage | undefined;

  private constructor(port: number) {
    this.#port = port;
  }

  /** Starts the proxy in front of a local port. */
  static async start(port: number): Promise<OutageProxy> {
    const proxy = new OutageProxy(port);
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  begin(outage: Outage): void {
    this.#outage = outage;
    if (outage === 'reset') for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Ends the outage and closes all its connections. New connections work again. */
  end(): void {
    this.#outage = undefined;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(client: Socket): void {
    this.#keep(client);
    if (this.#outage === 'reset') return void client.resetAndDestroy();
    const server = this.#keep(connect(this.#port, '127.0.0.1'));
    client.on('data', (request) => {
      if (this.#outage !== 'black hole') server.write(request);
    });
    server.on('data', (reply) => {
      if (this.#outage === undefined) client.write(reply);
      if (this.#outage !== 'truncated') return;
      client.write(reply.subarray(0, reply.length / 2), () => client.resetAndDestroy());
    });
    for (const [one, other] of [[client, server] as const, [server, client] as const]) {
      one.on('close', () => {
        if (this.#outage !== 'black hole' && this.#outage !== 'half-open') other.destroy();
      });
    }
  }

  #keep(socket: Socket): Socket {
    this.#sockets.add(socket);
    return socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
  }
}
