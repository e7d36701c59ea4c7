import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Returns a port on which nothing listens. Operating systems give outgoing connections ports from 32,768 on, so no
 * connection of a parallel test takes this one meanwhile.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue; // Another program listens there.
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
