import { EventEmitter } from 'node:events';

/** Stands in for the socket of a request that came without one. */
export class Connection extends EventEmitter {
  readonly remoteAddress: string | undefined;
  /** As on a socket of TLS: Koa knows `https` by it. */
  readonly encrypted: boolean;
  /** Bytes of the bodies alone. */
  bytesRead = 0;
  bytesWritten = 0;
  destroyed = false;
  /** Why it was closed. */
  reason: unknown;
  timeout = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(remoteAddress: string | undefined, encrypted: boolean) {
    super();
    this.remoteAddress = remoteAddress;
    this.encrypted = encrypted;
  }

  get writable(): boolean {
    return !this.destroyed;
  }

  /** Closes the connection if nothing moves for this many milliseconds; 0 for no limit. */
  setTimeout(ms: number): void {
    clearTimeout(this.#timer);
    this.timeout = ms;
    this.#timer = ms > 0 ? setTimeout(() => this.destroy(), ms) : undefined;
  }

  /** Restarts the time-out. Called when bytes are read or written. */
  moved(): void {
    this.#timer?.refresh();
  }

  /** @param reason an error as `fetch` rejects with */
  destroy(reason: unknown = new DOMException('The request was aborted.', 'AbortError')): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.reason = reason;
    clearTimeout(this.#timer);
    this.emit('close');
  }
}
