import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createFetchHandler } from '../src/adapters/http/fetch/index.ts';
import { rostrumListener } from '../src/adapters/http/index.ts';
import { createMcpHandler } from '../src/adapters/mcp/index.ts';
import { createMemoryStore } from '../src/adapters/memory/index.ts';
import { createRostrum } from '../src/index.ts';
import { Child } from './child.ts';
import type { LoadResult } from './client.ts';
import { inputAt } from './data.ts';
import type { Options } from './options.ts';
import { wire } from './requests.ts';
import { table } from './results.ts';
import { inTurn, ratios, spread } from './rounds.ts';
import { busy } from './turns.ts';

const names = ['node:http', 'rostrum/fetch', 'MCP'] as const;

/** Measures the CPU time of reading a post by each interface, in one process. */
export async function measureInterfaces(options: Options): Promise<string> {
  const { rounds, turns, warmMs, busyMs } = options;
  const rostrum = createRostrum(createMemoryStore());
  const { id } = (await rostrum.posts.create(inputAt(0))).record;
  const handle = createFetchHandler(rostrum);
  const listener = rostrumListener(rostrum, { mcp: createMcpHandler(rostrum) });
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const script = join(import.meta.dirname, 'client.ts');
  await using client = new Child('client', [script], ['ignore', 'inherit', 'inherit', 'ipc']);
  const send = async (request: string, ms: number) => {
    await client.ask({ port, connections: busy, requests: [request], ms });
    return (await client.ask<LoadResult>('go')).requests;
  };
  const params = { name: 'get_post', arguments: { id } };
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  /** Each serves requests for so many milliseconds and returns how many. */
  const ways = {
    'node:http': (ms: number) => send(wire('GET', `/api/v1/posts/${id}`), ms),
    MCP: (ms: number) => send(wire('POST', '/api/v1/mcp', call), ms),
    'rostrum/fetch': async (ms: number) => {
      let count = 0;
      const end = performance.now() + ms;
      const url = `http://x/api/v1/posts/${id}`;
      const one = async () => {
        for (; performance.now() < end; count++) await (await handle(new Request(url))).text();
      };
      await Promise.all(Array.from({ length: busy }, one));
      return count;
    },
  };
  const cpuUs = {
    'node:http': [] as number[],
    'rostrum/fetch': [] as number[],
    MCP: [] as number[],
  };
  for (let turn = -1; turn < rounds * turns; turn++) {
    for (const name of inTurn(names, turn)) {
      const before = process.cpuUsage();
      const count = await ways[name](turn < 0 ? warmMs : busyMs);
      const { user, system } = process.cpuUsage(before);
      if (turn >= 0) cpuUs[name].push((user + system) / count);
    }
  }
  server.close();
  const rows = names.map((name) => {
    const ratio = ratios(cpuUs[name], cpuUs['node:http']);
    return [name, spread(cpuUs[name], 0), spread(ratio, 2)];
  });
  return table(['interface', 'microseconds', 'relative'], rows);
}
