import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createFetchHandler } from '../src/adapters/http/fetch/index.ts';
import { rostrumListener } from '../src/adapters/http/index.ts';
import { createMemoryStore } from '../src/adapters/memory/index.ts';
import { createRostrum } from '../src/index.ts';
import { Child } from './child.ts';
import type { LoadResult } from './client.ts';
import { inputAt } from './data.ts';
import type { Options } from './options.ts';
import { wire } from './requests.ts';
import { inTurn, ratios, spread } from './rounds.ts';
import { busy } from './turns.ts';

/** Measures the CPU time of a GET with `rostrum/fetch`, and with `node:http` over sockets, in one process. */
export async function measureFetch({ rounds, turns, warmMs, busyMs }: Options): Promise<string> {
  const rostrum = createRostrum(createMemoryStore());
  const { record } = await rostrum.posts.create(inputAt(0));
  const [handle, url] = [createFetchHandler(rostrum), `http://x/api/v1/posts/${record.id}`];
  const server = createServer(rostrumListener(rostrum)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const script = join(import.meta.dirname, 'client.ts');
  await using client = new Child('client', [script], ['ignore', 'inherit', 'inherit', 'ipc']);
  const load = { port, connections: busy, requests: [wire('GET', `/api/v1/posts/${record.id}`)] };
  /** Each serves requests for so many milliseconds and returns how many. */
  const ways = {
    fetch: async (ms: number) => {
      let count = 0;
      const end = performance.now() + ms;
      const one = async () => {
        for (; performance.now() < end; count++) await (await handle(new Request(url))).text();
      };
      await Promise.all(Array.from({ length: busy }, one));
      return count;
    },
    http: async (ms: number) => {
      await client.ask({ ...load, ms });
      return (await client.ask<LoadResult>('go')).requests;
    },
  };
  const cpuUs: Record<keyof typeof ways, number[]> = { fetch: [], http: [] };
  for (let turn = -1; turn < rounds * turns; turn++) {
    for (const name of inTurn(['fetch', 'http'] as const, turn)) {
      const before = process.cpuUsage();
      const count = await ways[name](turn < 0 ? warmMs : busyMs);
      const { user, system } = process.cpuUsage(before);
      if (turn >= 0) cpuUs[name].push((user + system) / count);
    }
  }
  server.close();
  const ratio = spread(ratios(cpuUs.fetch, cpuUs.http), 2);
  return `A GET by rostrum/fetch takes ${spread(cpuUs.fetch, 0)} µs of the processor, by node:http ${spread(cpuUs.http, 0)} µs: ${ratio}.`;
}
