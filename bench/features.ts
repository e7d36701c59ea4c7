import { join } from 'node:path';
import { addKey } from '../src/adapters/credentials/key-file.ts';
import { Child } from './child.ts';
import type { Options } from './options.ts';
import { say } from './progress.ts';
import { fill, inputsOfPosts, type Requests, requestKinds } from './requests.ts';
import { type Report, table } from './results.ts';
import { Figures, inTurn, median, ratios, spread } from './rounds.ts';
import { buildServers, type Server, startServer } from './servers.ts';
import { busy, takeTurn } from './turns.ts';
import type { Workspace } from './workspace.ts';

/** What a feature may add to the processor time of a request. */
const mostTimes = 1.1;

const origin = 'https://app.example.com';
const everyScope = ['users:read', 'users:write', 'posts:read', 'posts:write'] as const;

/** How the program is started, and what every request of its clients has. */
interface Setup {
  readonly flags: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

/** Each feature alone, all of them, and none. */
function setups(folder: string) {
  const path = join(folder, 'keys.jsonl');
  const { token } = addKey(path, { scopes: [...everyScope] });
  const keys: Setup = {
    flags: ['--auth-keys', path],
    headers: { Authorization: `Bearer ${token}` },
  };
  const limits: Setup = { flags: ['--rate-limit', '1000000'], headers: {} };
  const cors: Setup = { flags: ['--cors', origin], headers: { Origin: origin } };
  const metrics: Setup = { flags: ['--metrics-port', '0'], headers: {} };
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const trace: Setup = { flags: [], headers: { traceparent } };
  const all: Setup = {
    flags: [keys, limits, cors, metrics].flatMap(({ flags }) => flags),
    headers: { ...keys.headers, ...cors.headers, ...trace.headers },
  };
  return { none: { flags: [], headers: {} }, keys, limits, cors, metrics, trace, all };
}

/** What each feature that is switched on adds to a request, on the memory store. */
export async function measureFeatures(options: Options, workspace: Workspace): Promise<Report> {
  const program = buildServers(options.program);
  const script = join(import.meta.dirname, 'client.ts');
  await using client = new Child('client', [script], ['ignore', 'inherit', 'inherit', 'ipc']);
  const all = setups(workspace.folder);
  const names = Object.keys(all) as (keyof typeof all)[];
  const figures = {
    GET: new Figures<keyof typeof all, 'cpuUs'>(),
    page: new Figures<keyof typeof all, 'cpuUs'>(),
    POST: new Figures<keyof typeof all, 'cpuUs'>(),
  };
  const { rounds, turns, turnMs } = options.features;
  for (let round = 0; round < rounds; round++) {
    say(`features: round ${round + 1} of ${rounds}`);
    // The same program is faster in one process than in another, so each round has new ones.
    await using stack = new AsyncDisposableStack();
    const started = new Map<keyof typeof all, { server: Server; requests: Requests }>();
    for (const name of names) {
      const { flags, headers } = all[name];
      const url = 'memory:';
      const server = stack.use(await startServer('Rostrum', workspace, { program, url, flags }));
      const requests = await fill(server, inputsOfPosts(), headers);
      started.set(name, { server, requests });
    }
    for (const request of requestKinds) {
      for (const { server, requests } of started.values()) {
        const load = { connections: busy, ms: options.warmMs, requests: requests[request] };
        await takeTurn(client, server, load);
      }
      for (let turn = 0; turn < turns; turn++) {
        for (const [name, { server, requests }] of inTurn([...started], turn)) {
          const load = { connections: busy, ms: turnMs, requests: requests[request] };
          const { cpuUs } = await takeTurn(client, server, load);
          figures[request].add(name, { cpuUs });
        }
      }
    }
  }
  const features = requestKinds.map((request) => ({ request, turns: figures[request].columns() }));
  const rows = features.flatMap(({ request, turns }) =>
    names.map((name) => {
      const { cpuUs } = turns[name];
      const toNone = ratios(cpuUs, turns.none.cpuUs);
      const held = median(toNone) <= mostTimes ? '≤' : 'not ≤';
      const target = name === 'none' || name === 'all' ? '' : ` ${held} ${mostTimes}`;
      return [request, name, spread(cpuUs, 1), spread(toNone, 2) + target];
    }),
  );
  const markdown = [
    `Processor time of the server for a request at ${busy} connections, in microseconds:`,
    table(['request', 'switched on', 'Rostrum', 'to none'], rows),
  ].join('\n\n');
  return { markdown, data: { features } };
}
