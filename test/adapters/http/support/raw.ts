import { connect, type Socket } from 'node:net';
import type { RunningServer } from '../../../../src/adapters/http/index.ts';
import type { RawResponse } from './answer.ts';
import { NoServer } from './fetch-transport.ts';

/** A TCP connection on which the test controls every byte. */
export class RawConnection {
  readonly socket: Socket;
  #received = '';
  #closed = false;
  #wake: () => void = () => {};

  constructor({ address }: RunningServer) {
    this.socket = connect({ port: address.port, host: address.address, allowHalfOpen: true });
    this.socket.setEncoding('latin1');
    this.socket.on('data', (text: string) => {
      this.#received += text;
      this.#wake();
    });
    const ended = () => {
      this.#closed = true;
      this.#wake();
    };
    this.socket.on('error', ended).on('end', ended).on('close', ended);
  }

  send(text: string): this {
    this.socket.write(text, 'latin1');
    return this;
  }

  /** Half-closes the connection. The server can still send. */
  end(): this {
    this.socket.end();
    return this;
  }

  /** Returns the next complete response, or undefined if the connection ends without one. */
  async next(method = 'GET'): Promise<RawResponse | undefined> {
    for (;;) {
      const answer = this.#take(method);
      if (answer !== undefined) return answer;
      if (this.#closed) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Resolves when the server has closed the connection, with the data that was not read before. */
  async closed(): Promise<string> {
    while (!this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.socket.destroy();
    return this.#received;
  }

  #take(method: string): RawResponse | undefined {
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const [first = '', ...lines] = this.#received.slice(0, end).split('\r\n');
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    if (headers.size < lines.length) throw new Error(`Duplicate header in ${lines.join('; ')}`);
    const status = Number(first.split(' ')[1]);
    const bodyless = method === 'HEAD' || status === 100 || status === 204 || status === 304;
    const length = bodyless ? 0 : Number(headers.get('content-length') ?? 0);
    const from = end + 4;
    if (this.#received.length < from + length) return undefined;
    const text = Buffer.from(this.#received.slice(from, from + length), 'latin1').toString();
    this.#received = this.#received.slice(from + length);
    return { status, headers, text, body: text.startsWith('{') ? JSON.parse(text) : {} };
  }
}

/** Sends bytes on a new connection and returns the first response. */
export async function exchange(
  server: RunningServer,
  text: string,
): Promise<RawResponse | undefined> {
  if (server instanceof NoServer) return server.exchange(text);
  const connection = new RawConnection(server);
  try {
    return await connection.send(text).next();
  } finally {
    connection.socket.destroy();
  }
}
