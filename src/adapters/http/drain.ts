import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { shortestPiece } from './request/limits.ts';

/** For how long, in milliseconds, a client may go on sending what nobody wants. */
export const drainMs = 2000;

/** How many bytes of that are read: several times those of the largest body. */
const drainBytes = 4 * 1024 * 1024;

/**
 * Throws away what a client goes on sending: to close at once would make TCP reset the connection,
 * and the client could lose the response (RFC 9112, section 9.6).
 */
export function drain(source: Readable, socket: Socket): void {
  let rest = drainBytes;
  source.on('data', (chunk: Uint8Array) => {
    rest -= Math.max(chunk.length, shortestPiece);
    if (rest < 0) socket.destroy();
  });
  source.resume();
}
