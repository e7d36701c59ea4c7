import type { Child } from './child.ts';
import type { Load, LoadResult } from './client.ts';
import type { Server } from './servers.ts';

/** Connections of a busy server. */
export const busy = 64;

/** One server's turn under a load. */
export interface Turn extends LoadResult {
  /** Processor time that the server used for a request, in microseconds. */
  readonly cpuUs: number;
  /** The server's memory when the turn ended. */
  readonly rssMiB: number;
}

/** Connections are opened before the measurement begins. */
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
