import { EventEmitter } from 'node:events';

/** Stands in for the socket of a request that came without one. */
export class Connection extends EventEmitter {
  readonly remoteAddress: string | undefined;
  /** As a socket of TLS has it: what Koa knows `https` by. */
  readonly encrypted: boolean;
  /** Bytes of the bodies alone. */
  bytesRead = 0;
  bytesWritten = 0;
  destroyed = false;
  /** A client cannot end its side alone. */
  readonly readableEnded = false;
  /** Why it ended. */
  reason: unknown;

  constructor(remoteAddress: string | undefined, encrypted: boolean) {
    super();
    this.remoteAddress = remoteAddress;
    this.encrypted = encrypted;
  }

  get writable(): boolean {
    return !this.destroyed;
  }

  /** @param reason an error as `fetch` rejects with */
  destroy(reason: unknown = new DOMException('The request was aborted.', 'AbortError')): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.reason = reason;
    this.emit('close');
  }
}
