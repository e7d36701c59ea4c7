import { EventEmitter } from 'node:events';
import type { ReadableStreamDefaultController } from 'node:stream/web';
import type { VirtualSocket } from './virtual-socket.ts';

/** Connection headers are the host's business. */
const hopByHop = ['connection', 'keep-alive', 'transfer-encoding'];

/** A longer body is streamed in chunks of this size. */
const pieceBytes = 64 * 1024;

/** The part of `ServerResponse` that Koa uses, as a `Response`. */
export class OutgoingResponse extends EventEmitter {
  statusCode = 200;
  statusMessage = '';
  writableEnded = false;
  writableFinished = false;
  destroyed = false;
  readonly socket: VirtualSocket;
  readonly #headers = new Headers();
  readonly #made = Promise.withResolvers<Response>();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(socket: VirtualSocket) {
    super();
    this.socket = socket;
    socket.once('close', () => {
      if (this.destroyed) return;
      this.#made.reject(socket.reason);
      this.#controller?.error(socket.reason);
      this.#close();
    });
  }

  /** Fulfilled with the head, and with the body if it is short; rejected if the client goes. */
  get made(): Promise<Response> {
    return this.#made.promise;
  }

  get headersSent(): boolean {
    return this.writableEnded;
  }

  setHeader(name: string, value: string | number | readonly string[]): void {
    this.#headers.delete(name);
    for (const one of [value].flat()) this.#headers.append(name, String(one));
  }

  getHeader(name: string): string | readonly string[] | undefined {
    if (name.toLowerCase() === 'set-cookie') return this.#headers.getSetCookie();
    return this.#headers.get(name) ?? undefined;
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name);
  }

  getHeaders(): Record<string, string> {
    return Object.fromEntries(this.#headers);
  }

  getHeaderNames(): string[] {
    return [...this.#headers.keys()];
  }

  removeHeader(name: string): void {
    this.#headers.delete(name);
  }

  end(body: string | Buffer<ArrayBuffer> | null = null): void {
    if (this.writableEnded || this.destroyed) return;
    this.writableEnded = true;
    for (const name of hopByHop) this.#headers.delete(name);
    const length = body === null ? 0 : Buffer.byteLength(body);
    const isShort = length <= pieceBytes;
    const { statusCode: status, statusMessage: statusText } = this;
    const head = { status, statusText, headers: this.#headers };
    this.#made.resolve(
      new Response(isShort ? body : this.#inPieces(Buffer.from(body ?? '')), head),
    );
    if (isShort) this.#finish(length);
  }

  #inPieces(bytes: Buffer): ReadableStream<Uint8Array> {
    const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, n) =>
      bytes.subarray(n * pieceBytes, (n + 1) * pieceBytes),
    );
    return new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: (controller) => {
          const piece = pieces.shift();
          if (piece === undefined) {
            controller.close();
            this.#finish(bytes.length);
          } else {
            controller.enqueue(piece);
            this.socket.refreshTimeout();
          }
        },
        cancel: (reason) => this.socket.destroy(reason),
      },
      { highWaterMark: 0 },
    );
  }

  #finish(length: number): void {
    this.socket.bytesWritten += length;
    this.writableFinished = true;
    this.emit('finish');
    this.#close();
  }

  #close(): void {
    this.destroyed = true;
    this.emit('close');
  }
}
