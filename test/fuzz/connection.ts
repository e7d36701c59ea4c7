import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { RawRequest } from './requests.ts';

export interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** The response time from which a request counts as hanging. */
const patienceMs = 10_000;

/** A raw TCP connection with one request at a time. */
export class Connection {
  readonly #port: number;
  #socket: Socket | undefined;
  /** Earlier requests and responses on the same connection, to help find the cause of a failure. */
  history: string[] = [];

  constructor(port: number) {
    this.#port = port;
  }

  /**
   * Returns the response, or undefined if the server closed the connection. Throws if nothing happens for too
   * long.
   */
  async send(request: RawRequest): Promise<RawResponse | undefined> {
    const socket = await this.#open();
    const answer = new Promise<RawResponse | undefined>((resolve, reject) => {
      let received = Buffer.alloc(0);
      const patience = setTimeout(() => done(new Error('no answer')), patienceMs);
      const done = (outcome: RawResponse | Error | undefined) => {
        clearTimeout(patience);
        socket.removeAllListeners('data').removeAllListeners('close');
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      };
      socket.on('data', (bytes: Buffer) => {
        received = Buffer.concat([received, bytes]);
        const read = readAnswer(received, request.method);
        if (read !== undefined) done(read);
      });
      socket.on('close', () => done(undefined));
    });
    if (request.torn) socket.end(request.bytes);
    else socket.write(request.bytes);
    const outcome = await answer.catch((error: unknown) => {
      this.close(); // The server still waits for the rest of this request.
      throw error;
    });
    const shown = request.bytes.subarray(0, 300).toString('latin1');
    this.history = [...this.history.slice(-1), `${shown} -> ${outcome?.status}`];
    const last = outcome === undefined || outcome.headers.get('connection') === 'close';
    if (!request.clean || last) this.close();
    return outcome;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  async #open(): Promise<Socket> {
    if (this.#socket !== undefined && !this.#socket.destroyed) return this.#socket;
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    // A reset ends the connection without a response; `close` follows.
    socket.on('error', () => {});
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    this.#socket = socket;
    this.history = [];
    return socket;
  }
}

/** Returns the final response if it is complete. */
function readAnswer(bytes: Buffer, method: string): RawResponse | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(`${first} `)?.[1]);
  const rest = bytes.subarray(end + 4);
  if (status >= 100 && status < 200) return readAnswer(rest, method);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const bodiless = method === 'HEAD' || status === 204 || status === 304;
  const length = bodiless ? 0 : Number(headers.get('content-length'));
  if (rest.length < length) return undefined;
  return { status, headers, body: rest.subarray(0, length).toString() };
}
