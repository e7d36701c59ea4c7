import { Writable } from 'node:stream';
import type { ReadableStreamDefaultController, UnderlyingSource } from 'node:stream/web';
import type { Connection } from './connection.ts';

type HeaderValue = string | number | readonly string[];

/** Headers of a connection, which is the host's. */
const hopByHop: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/** A longer body is handed over in pieces of this size, as it is taken. */
const pieceBytes = 64 * 1024;

/** The part of `ServerResponse` that is used, as a `Response`. */
export class OutgoingResponse extends Writable {
  statusCode = 200;
  statusMessage = '';
  headersSent = false;
  readonly socket: Connection;
  /** Fulfilled with the head, and with the body if it is short; rejected if the client goes. */
  readonly made: Promise<Response>;

  readonly #resolve: (response: Response) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #headers = new Map<string, HeaderValue>();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Hands over the piece that waits until it is wanted. */
  #hand: (() => void) | undefined;
  #isWanted = false;

  constructor(socket: Connection) {
    super({ highWaterMark: 1 });
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    this.socket = socket;
    this.made = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    socket.once('close', () => this.destroy());
  }

  setHeader(name: string, value: HeaderValue): this {
    this.#headers.set(name.toLowerCase(), value);
    return this;
  }

  getHeader(name: string): HeaderValue | undefined {
    return this.#headers.get(name.toLowerCase());
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase());
  }

  getHeaders(): Record<string, HeaderValue> {
    return Object.fromEntries(this.#headers);
  }

  getHeaderNames(): string[] {
    return [...this.#headers.keys()];
  }

  removeHeader(name: string): void {
    this.#headers.delete(name.toLowerCase());
  }

  /** The first name of `writableEnded`, which libraries use. */
  get finished(): boolean {
    return this.writableEnded;
  }

  override end(body?: unknown): this {
    if (this.headersSent || this.destroyed || typeof body === 'function') {
      super.end(body);
      return this;
    }
    const given = body as string | Buffer<ArrayBuffer> | undefined;
    const length = given === undefined ? 0 : Buffer.byteLength(given);
    if (given !== undefined && length > pieceBytes) {
      const bytes = typeof given === 'string' ? Buffer.from(given) : given;
      for (let at = 0; at < length; at += pieceBytes)
        this.write(bytes.subarray(at, at + pieceBytes));
    } else {
      this.socket.bytesWritten += length;
      const response = this.#head(given ?? null);
      this.once('close', () => this.#resolve(response));
    }
    super.end();
    return this;
  }

  #head(body: string | Buffer<ArrayBuffer> | ReadableStream<Uint8Array> | null): Response {
    this.headersSent = true;
    const headers: [string, string][] = [];
    for (const [name, value] of this.#headers) {
      if (hopByHop.has(name)) continue;
      const values: readonly unknown[] = Array.isArray(value) ? value : [value];
      for (const one of values) headers.push([name, String(one)]);
    }
    const { statusCode: status, statusMessage: statusText } = this;
    return new Response(body, { status, statusText, headers });
  }

  override _write(piece: Buffer, _encoding: string, done: () => void): void {
    this.#hand = () => {
      this.#hand = undefined;
      this.#isWanted = false;
      this.socket.bytesWritten += piece.length;
      this.socket.moved();
      this.#controller?.enqueue(piece);
      done();
    };
    if (!this.headersSent) this.#resolve(this.#head(this.#stream()));
    if (this.#isWanted) this.#hand();
  }

  #stream(): ReadableStream<Uint8Array> {
    const source: UnderlyingSource<Uint8Array> = {
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => {
        this.#isWanted = true;
        this.#hand?.();
      },
      cancel: (reason) => this.socket.destroy(reason),
    };
    return new ReadableStream(source, { highWaterMark: 0 });
  }

  override _final(done: () => void): void {
    this.#controller?.close();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const { reason } = this.socket;
    if (!this.headersSent) this.#reject(reason ?? error);
    else if (!this.writableFinished) this.#controller?.error(reason ?? error);
    done(error);
  }
}
