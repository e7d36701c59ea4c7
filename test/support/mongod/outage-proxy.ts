import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What a network does to connections. */
export const outages = [
  /** Nothing goes through, in either direction, and neither side is told. */
  'black hole',
  /** Connections are reset, new ones too. */
  'reset',
  /** Requests arrive and are carried out, and no reply comes back. */
  'half-open',
  /** Replies end in the middle, and so do their connections. */
  'truncated',
] as const;

export type Outage = (typeof outages)[number];

/** Stands between a client and a server on this machine, and does to connections what networks do. */
export class OutageProxy implements AsyncDisposable {
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((client) => this.#join(client));
  #outage: Outage | undefined;

  private constructor(port: number) {
    this.#port = port;
  }

  /** In front of a port of this machine. */
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

  /** Connections of the outage are lost; new ones are as they should be. */
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
