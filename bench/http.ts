import { join } from 'node:path';
import { Child } from './child.ts';
import { type Cell, reportHttp, type Starts } from './http-report.ts';
import type { Options } from './options.ts';
import { say } from './progress.ts';
import { prepare, requestKinds } from './requests.ts';
import type { Report } from './results.ts';
import { interleave } from './rounds.ts';
import { buildServers, type Contestant, contestants, startServer } from './servers.ts';
import { busy, takeTurn } from './turns.ts';
import type { Workspace } from './workspace.ts';

/** What HTTP costs in Rostrum, in Fastify and in bare `node:http`, over the same store each. */
export async function measureHttp(options: Options, workspace: Workspace): Promise<Report> {
  const { rounds, busyMs, singleMs } = options;
  const program = buildServers(options.program);
  const script = join(import.meta.dirname, 'client.ts');
  await using client = new Child('client', [script], ['ignore', 'inherit', 'inherit', 'ipc']);
  const cells: Cell[] = [];
  const starts: Starts[] = [];
  for (const store of options.stores) {
    const urls = {
      bare: await workspace.newStore(store),
      Fastify: await workspace.newStore(store),
      Rostrum: await workspace.newStore(store),
    };
    const { bare: url } = urls;
    if (url === undefined) continue;
    const start = (name: Contestant) =>
      startServer(name, workspace, { program, url: urls[name] ?? url });

    say(`http: ${store}, starts`);
    const started = await interleave(rounds, contestants, async (name) => {
      await using server = await start(name);
      return { startMs: server.startMs, idleMiB: (await server.usage()).rssMiB };
    });
    starts.push({ store, starts: started });

    await using stack = new AsyncDisposableStack();
    const servers = {
      bare: stack.use(await start('bare')),
      Fastify: stack.use(await start('Fastify')),
      Rostrum: stack.use(await start('Rostrum')),
    };
    // An author costs Rostrum steps on MongoDB that the other servers have no counterpart for.
    const requests = await prepare(servers, store !== 'MongoDB');
    say(`http: ${store}, warming up`);
    for (const name of contestants) {
      const { GET, page } = requests[name];
      const reads = GET.flatMap((request) => [request, ...page]);
      await takeTurn(client, servers[name], { connections: busy, ms: busyMs, requests: reads });
    }
    for (const request of requestKinds) {
      for (const connections of [busy, 1]) {
        say(`http: ${store}, ${request}, ${connections} connections`);
        const ms = connections === busy ? busyMs : singleMs;
        const turns = await interleave(rounds, contestants, (name) =>
          takeTurn(client, servers[name], { connections, ms, requests: requests[name][request] }),
        );
        cells.push({ store, request, connections, turns });
      }
    }
  }
  return reportHttp(cells, starts);
}
