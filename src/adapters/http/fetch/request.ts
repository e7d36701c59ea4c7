import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { bodyAlreadyRead } from '../body.ts';
import { RequestAborted } from '../context.ts';
import type { VirtualSocket } from './virtual-socket.ts';

/** The used part of `IncomingMessage`, made from a `Request`. Its body is read chunk by chunk. */
export class IncomingRequest extends Readable {
  readonly method: string;
  /** The target: path and query. */
  url: string;
  readonly httpVersion = '1.1';
  readonly httpVersionMajor = 1;
  readonly headers: IncomingHttpHeaders;
  readonly socket: VirtualSocket;
  /** The host decides what happens to the rest of a body. */
  readonly complete = true;

  readonly #request: Request;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(request: Request, socket: VirtualSocket) {
    super();
    const { method, headers, body } = request;
    const { host, pathname, search } = new URL(request.url);
    this.#request = request;
    this.socket = socket;
    this.method = method;
    this.url = pathname + search;
    this.headers = Object.fromEntries(headers);
    this.headers.host ??= host;
    if (body !== null && this.headers['content-length'] === undefined) {
      this.headers['transfer-encoding'] = 'chunked';
    }
  }

  override async _read(): Promise<void> {
    const { body, bodyUsed } = this.#request;
    if (this.#reader === undefined && (bodyUsed || body?.locked)) {
      this.destroy(bodyAlreadyRead());
      return;
    }
    try {
      this.#reader ??= body?.getReader();
      const { value = null } = (await this.#reader?.read()) ?? {};
      this.push(value);
    } catch (cause) {
      this.socket.destroy(cause);
      this.destroy(new RequestAborted({ cause }));
    }
  }

  /** Does not cancel the rest of the body: a host may close the connection of a cancelled body. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const isCut = error === null && this.#reader !== undefined && !this.readableEnded;
    this.#reader?.releaseLock();
    done(error);
    if (!isCut) return;
    this.emit('aborted');
    this.socket.destroy();
  }
}
