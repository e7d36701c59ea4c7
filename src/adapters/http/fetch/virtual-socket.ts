import { EventEmitter } from 'node:events';

/** A stand-in for the socket that a `Request` does not have. */
export class VirtualSocket extends EventEmitter {
  readonly remoteAddress: string | undefined;
  /** Set as on a TLS socket: Koa detects `https` by it. */
  readonly encrypted: boolean;
  /** Counts only the bytes of bodies. */
  bytesWritten = 0;
  destroyed = false;
  /** The reason why it was closed. */
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
