import { reportHttp } from './http-report.ts';
import type { Options } from './options.ts';
import { say } from './progress.ts';
import { prepare, type RequestKind, requestKinds } from './requests.ts';
import type { Report } from './results.ts';
import { type Columns, interleave } from './rounds.ts';
import { buildServers, type Contestant, contestants, startServer } from './servers.ts';
import { Client, type Turn } from './turn.ts';
import type { StoreKind, Workspace } from './workspace.ts';

/** Connections of a busy server. */
export const busy = 64;

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
  const { rounds, busyMs, singleMs, program } = options;
  buildServers();
  await using client = new Client();
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
    for (const request of requestKinds) {
      for (const connections of [busy, 1]) {
        say(`http: ${store}, ${request}, ${connections} connections`);
        const ms = connections === busy ? busyMs : singleMs;
        const turns = await interleave(rounds, contestants, (name) =>
          client.turn(servers[name], { connections, ms, requests: requests[name][request] }),
        );
        cells.push({ store, request, connections, turns });
      }
    }
  }
  return reportHttp(cells, starts);
}
