import { join } from 'node:path';
import { addKey } from '../src/adapters/credentials/key-file.ts';
import { Child } from './child.ts';
import type { Options } from './options.ts';
import { say } from './progress.ts';
import { fill, inputsOfPosts, type RequestKind, type Requests, requestKinds } from './requests.ts';
import { type Report, table } from './results.ts';
import { type Columns, Figures, inTurn, median, ratios, type Series, spread } from './rounds.ts';
import { buildServers, type Contestant, type Server, startServer } from './servers.ts';
import { busy, takeTurn } from './turns.ts';
import type { Workspace } from './workspace.ts';

/** What a feature may add to the processor time of a request. */
const mostTimes = 1.1;

const origin = 'https://app.example.com';
const everyScope = ['users:read', 'users:write', 'posts:read', 'posts:write'] as const;

/** How a server is started, and what every request of its clients has. */
interface Setup {
  readonly contestant?: Contestant;
  /** The main.js of another build. */
  readonly program?: string;
  readonly flags?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Bare, an older program where one is given, and this one: with each feature alone, all, and none. */
function setups(folder: string, before: string | undefined): Record<string, Setup> {
  const path = join(folder, 'keys.jsonl');
  const { token } = addKey(path, { scopes: [...everyScope] });
  const keys = {
    flags: ['--auth-keys', path],
    headers: { Authorization: `Bearer ${token}` },
  };
  const limits = { flags: ['--rate-limit', '1000000'] };
  const cors = { flags: ['--cors', origin], headers: { Origin: origin } };
  const metrics = { flags: ['--metrics-port', '0'] };
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const trace = { headers: { traceparent } };
  const all = {
    flags: [keys, limits, cors, metrics].flatMap(({ flags }) => flags),
    headers: { ...keys.headers, ...cors.headers, ...trace.headers },
  };
  const older = before === undefined ? {} : { before: { program: before } };
  return {
    bare: { contestant: 'bare' },
    ...older,
    none: {},
    keys,
    limits,
    cors,
    metrics,
    trace,
    all,
  };
}

/** Those that are no feature alone, and so may cost what they cost. */
const compared = ['bare', 'before', 'none', 'all'];

/** What each feature that is switched on adds to a request, on the memory store. */
export async function measureFeatures(options: Options, workspace: Workspace): Promise<Report> {
  const built = buildServers(options.program);
  const script = join(import.meta.dirname, 'client.ts');
  await using client = new Child('client', [script], ['ignore', 'inherit', 'inherit', 'ipc']);
  const all = Object.entries(setups(workspace.folder, options.before));
  /** What each took in each round, turn by turn. */
  const taken: Record<RequestKind, Record<string, Columns<'cpuUs'>>[]> = {
    GET: [],
    page: [],
    POST: [],
  };
  const { rounds, turns, turnMs } = options.features;
  for (let round = 0; round < rounds; round++) {
    say(`features: round ${round + 1} of ${rounds}`);
    // The same program is faster in one process than in another, so each round has new ones.
    await using stack = new AsyncDisposableStack();
    const started = new Map<string, { server: Server; requests: Requests }>();
    for (const [name, { contestant = 'Rostrum', program = built, flags = [], headers }] of all) {
      const start = { program, url: 'memory:', flags };
      const server = stack.use(await startServer(contestant, workspace, start));
      const requests = await fill(server, inputsOfPosts(), headers);
      started.set(name, { server, requests });
    }
    for (const request of requestKinds) {
      for (const { server, requests } of started.values()) {
        const load = { connections: busy, ms: options.warmMs, requests: requests[request] };
        await takeTurn(client, server, load);
      }
      const figures = new Figures<string, 'cpuUs'>();
      for (let turn = 0; turn < turns; turn++) {
        for (const [name, { server, requests }] of inTurn([...started], turn)) {
          const load = { connections: busy, ms: turnMs, requests: requests[request] };
          const { cpuUs } = await takeTurn(client, server, load);
          figures.add(name, { cpuUs });
        }
      }
      taken[request].push(figures.columns());
    }
  }

  const features = requestKinds.flatMap((request) =>
    all.map(([name]) => {
      const ofRounds = (of: (turns: (name: string) => Series) => Series) =>
        taken[request].map((round) => median(of((name) => round[name]?.cpuUs ?? [])));
      return {
        request,
        name,
        cpuUs: ofRounds((turns) => turns(name)),
        toNone: ofRounds((turns) => ratios(turns(name), turns('none'))),
        bareTo: ofRounds((turns) => ratios(turns('bare'), turns(name))),
      };
    }),
  );
  const rows = features.map(({ request, name, cpuUs, toNone, bareTo }) => {
    const held = median(toNone) <= mostTimes ? '≤' : 'not ≤';
    const target = compared.includes(name) ? '' : ` ${held} ${mostTimes}`;
    return [request, name, spread(cpuUs, 1), spread(toNone, 2) + target, spread(bareTo, 2)];
  });
  const markdown = [
    `Processor time of the server for a request at ${busy} connections, in microseconds:`,
    table(['request', 'switched on', 'µs', 'to none', 'bare / it'], rows),
  ].join('\n\n');
  return { markdown, data: { features } };
}
