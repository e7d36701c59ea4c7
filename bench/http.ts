import { join } from 'node:path';
import { Child } from './child.ts';
import { type Cell, reportHttp, type Starts } from './http-report.ts';
import type { Options } from './options.ts';
import { prepare, requestKinds } from './requests.ts';
import { type Report, say } from './results.ts';
import { Figures, inTurn } from './rounds.ts';
import { buildServers, type Contestant, contestants, startServer } from './servers.ts';
import { busy, type Turn, takeTurn } from './turns.ts';
import type { Workspace } from './workspace.ts';

/** Measures the cost of HTTP in Rostrum, Koa, Fastify and plain `node:http`, each on the same store. */
export async function measureHttp(options: Options, workspace: Workspace): Promise<Report> {
  const { rounds, turns, warmMs, busyMs, singleMs } = options;
  const program = buildServers();
  const script = join(import.meta.dirname, 'client.ts');
  await using client = new Child('client', [script], ['ignore', 'inherit', 'inherit', 'ipc']);
  const cells: Cell[] = [];
  const starts: Starts[] = [];
  for (const store of options.stores) {
    if (!(await workspace.has(store))) continue;
    const starting = new Figures<Contestant, 'startMs' | 'idleMiB'>();
    const all = requestKinds.flatMap((request) =>
      [busy, 1].map((connections) => {
        return { store, request, connections, figures: new Figures<Contestant, keyof Turn>() };
      }),
    );
    for (let round = 0; round < rounds; round++) {
      say(`${store}, round ${round + 1} of ${rounds}`);
      // The speed of the same program varies between processes, so each round starts new ones.
      await using stack = new AsyncDisposableStack();
      const start = async (name: Contestant) => {
        const url = (await workspace.newStore(store)) ?? '';
        const server = stack.use(await startServer(name, workspace, { program, url }));
        const { rssMiB: idleMiB } = await server.usage();
        starting.add(name, { startMs: server.startMs, idleMiB });
        return server;
      };
      const servers = {
        bare: await start('bare'),
        Fastify: await start('Fastify'),
        Koa: await start('Koa'),
        Rostrum: await start('Rostrum'),
      };
      // No authors on MongoDB, where they cost Rostrum steps that the other servers don't have.
      const requests = await prepare(servers, store !== 'MongoDB');
      for (const { request, connections, figures } of all) {
        for (const name of connections === busy ? contestants : []) {
          const load = { connections, ms: warmMs, requests: requests[name][request] };
          await takeTurn(client, servers[name], load);
        }
        const ms = connections === busy ? busyMs : singleMs;
        for (let turn = 0; turn < turns; turn++) {
          for (const name of inTurn(contestants, turn)) {
            const load = { connections, ms, requests: requests[name][request] };
            figures.add(name, await takeTurn(client, servers[name], load));
          }
        }
      }
    }
    starts.push({ store, starts: starting.columns() });
    cells.push(...all.map(({ figures, ...cell }) => ({ ...cell, turns: figures.columns() })));
  }
  return reportHttp(cells, starts);
}
