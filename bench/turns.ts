import type { Child } from './child.ts';
import type { Load, LoadResult } from './client.ts';
import type { Server } from './servers.ts';

/** The number of connections under load. */
export const busy = 64;

/** The result of one measurement of a server under load. */
export interface Turn extends LoadResult {
  /** CPU time of the server per request in microseconds. */
  readonly cpuUs: number;
  /** The server's memory at the end. */
  readonly rssMiB: number;
}

/** Measures a server. Opens the connections before the measurement begins. */
export async function takeTurn(
  client: Child,
  server: Server,
  load: Omit<Load, 'port'>,
): Promise<Turn> {
  await client.ask({ ...load, port: server.port });
  const before = await server.usage();
  const result = await client.ask<LoadResult>('go');
  const { cpuUs, rssMiB } = await server.usage();
  return { ...result, cpuUs: (cpuUs - before.cpuUs) / result.requests, rssMiB };
}
