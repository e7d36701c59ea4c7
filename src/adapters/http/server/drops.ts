import type { Server } from 'node:http';
import type { Logger } from '../../../ports/logger.ts';

/** How often the log says that connections are turned away. */
const everyMs = 60_000;

/** Tells the log of connections beyond the limit: the first one, and how many a minute later. */
export function logDrops(server: Server, logger: Logger): void {
  let dropped = 0;
  let silentUntil = 0;
  server.on('drop', () => {
    dropped += 1;
    const now = performance.now();
    if (now < silentUntil) return;
    silentUntil = now + everyMs;
    const { maxConnections } = server;
    logger.warn({ maxConnections, dropped }, 'Too many connections; some were closed.');
    dropped = 0;
  });
}
