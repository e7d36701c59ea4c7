import { EventEmitter } from 'node:events';
import type { ReadableStreamDefaultController } from 'node:stream/web';
import type { VirtualSocket } from './virtual-socket.ts';

/** The host sets these. */
const hopByHop = ['connection', 'keep-alive', 'transfer-encoding'];

/** A longer body is streamed in chunks of this size. */
const chunkBytes = 64 * 1024;

/** The part of `ServerResponse` that Koa uses, as a `Response`. */
export class OutgoingResponse extends EventEmitter {
  statusCode = 200;
  statusMessage = '';
  writableEnded = false;
  writableFinished = false;
  destroyed = false;
  readonly socket: VirtualSocket;
  readonly #headers = new Headers();
  readonly #response = Promise.withResolvers<Response>();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(socket: VirtualSocket) {
    super();
    this.socket = socket;
    socket.once('close', () => {
      if (this.destroyed) return;
      this.#response.reject(socket.reason);
      this.#controller?.error(socket.reason);
      this.#close();
    });
  }

  /** Fulfilled with the head, and with the body if it is short; rejected if the client disconnects. */
  get response(): Promise<Response> {
    return this.#response.promise;
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

  /** Koa's `fresh` reads them. */
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
    const isShort = length <= chunkBytes;
    const { statusCode: status, statusMessage: statusText } = this;
    const head = { status, statusText, headers: this.#headers };
    this.#response.resolve(
      new Response(isShort ? body : this.#inChunks(Buffer.from(body ?? '')), head),
    );
    if (isShort) this.#finish(length);
  }

  #inChunks(bytes: Buffer): ReadableStream<Uint8Array> {
    let from = 0;
    return new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: (controller) => {
          if (from >= bytes.length) {
            controller.close();
            this.#finish(bytes.length);
            return;
          }
          controller.enqueue(bytes.subarray(from, from + chunkBytes));
          from += chunkBytes;
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
