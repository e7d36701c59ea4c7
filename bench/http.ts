import { join } from 'node:path';
import { Child } from './child.ts';
import type { Load, LoadResult } from './client.ts';
import { reportHttp } from './http-report.ts';
import type { Options } from './options.ts';
import { say } from './progress.ts';
import { prepare, type RequestKind, requestKinds } from './requests.ts';
import type { Report } from './results.ts';
import { type Columns, interleave } from './rounds.ts';
import { buildServers, type Contestant, contestants, type Server, startServer } from './servers.ts';
import type { StoreKind, Workspace } from './workspace.ts';

/** Connections of a busy server. */
export const busy = 64;

/** One server's turn under a load. */
export interface Turn extends LoadResult {
  /** Processor time that the server used for a request, in microseconds. */
  readonly cpuUs: number;
  /** The server's memory when the turn ended. */
  readonly rssMiB: number;
}

type ByContestant<Figure extends string> = Readonly<Record<Contestant, Columns<Figure>>>;

/** One request on one store, from so many connections. */
export interface Cell {
  readonly store: StoreKind;
  readonly request: RequestKind;
  readonly connections: number;
  readonly turns: ByContestant<keyof Turn>;
}

/** How the servers start on a store. */
export interface Starts {
  readonly store: StoreKind;
  readonly starts: ByContestant<'startMs' | 'idleMiB'>;
}

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
