import type { Socket } from 'node:net';

/** How long, and for how many bytes, a client may go on sending what nobody will read. */
const lingerMs = 2000;
const lingerBytes = 16 * 1024 * 1024;

/**
 * Closes a connection whose client may still be sending: ends our side, and throws away what comes
 * until the client ends its own. To close at once would make TCP reset the connection, and the
 * client could lose the answer that it was sent (RFC 9112, section 9.6).
 */
export function linger(socket: Socket): void {
  if (socket.destroyed) return;
  let bytes = 0;
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  // Off with the HTTP parser: what it would find now must not be served any more.
  socket.removeAllListeners('data');
  socket.removeAllListeners('end');
  socket.on('data', (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes > lingerBytes) socket.destroy();
  });
  socket.once('end', () => socket.destroy());
  socket.end();
  socket.resume();
}
