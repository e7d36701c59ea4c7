import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.ts';
import { npm } from '../../test/support/process.ts';
import { Child } from '../child.ts';
import type { LoadResult } from '../client.ts';
import { pinned } from '../machine.ts';
import type { Options } from '../options.ts';
import { inputs, type RequestKind, requestKinds, wire } from '../requests.ts';
import { say, table } from '../results.ts';
import { Figures, inTurn, ratios, spread } from '../rounds.ts';
import { buildServers } from '../servers.ts';
import { busy } from '../turns.ts';
import { cache, type Workspace } from '../workspace.ts';

/** An alternative to Rostrum, and its requests for posts. */
interface Peer {
  readonly name: string;
  /** Returns the command that starts a server with an empty store in a new folder. */
  readonly command: (port: string, folder: string) => readonly string[];
  readonly path: string;
  readonly page: string;
  /** Sets up the collection of posts after the start, if necessary. */
  readonly prepare?: (url: string, folder: string) => Promise<void>;
}

const versions = [
  '@feathersjs/feathers@5',
  '@feathersjs/koa@5',
  '@feathersjs/knex@5',
  'knex@3',
  'better-sqlite3@13',
  'json-server@0.17',
];
const installed = join(cache, 'peers');

function peersFor(program: string): readonly Peer[] {
  const pocketbase = process.env.POCKETBASE;
  const peers: readonly Peer[] = [
    {
      name: 'Rostrum',
      command: (port, folder) => {
        const store = `sqlite:${join(folder, 'rostrum.db')}`;
        return [process.execPath, program, '--store', store, '--port', port, '--host', '127.0.0.1'];
      },
      path: '/api/v1/posts',
      page: '?limit=20',
    },
    {
      name: 'Feathers 5',
      command: (port, folder) => [
        ...[process.execPath, join(installed, 'feathers.js'), port, join(folder, 'feathers.db')],
      ],
      path: '/posts',
      page: '?$limit=20&$sort%5BcreatedAt%5D=-1',
    },
    {
      name: 'json-server',
      command: (port, folder) => {
        writeFileSync(join(folder, 'db.json'), '{"posts":[]}');
        const script = join(installed, 'node_modules/json-server/lib/cli/bin.js');
        return [process.execPath, script, '--quiet', '--port', port, join(folder, 'db.json')];
      },
      path: '/posts',
      page: '?_limit=20&_sort=id&_order=desc',
    },
    {
      name: 'PocketBase',
      command: (port, folder) => {
        const at = ['--dir', join(folder, 'pb')];
        execFileSync(pocketbase ?? '', ['superuser', 'upsert', 'a@example.org', password, ...at]);
        return [pocketbase ?? '', 'serve', '--http', `127.0.0.1:${port}`, ...at];
      },
      path: '/api/collections/posts/records',
      page: '?perPage=20&sort=-created&skipTotal=1',
      prepare: createCollection,
    },
  ];
  if (pocketbase !== undefined) return peers;
  say('PocketBase is left out: POCKETBASE does not name a binary.');
  return peers.filter(({ name }) => name !== 'PocketBase');
}

const password = 'only-for-a-measurement';

async function createCollection(url: string): Promise<void> {
  const send = async (path: string, body: object, token = '') => {
    const headers = { 'Content-Type': 'application/json', Authorization: token };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(url + path, init);
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return (await response.json()) as { readonly token: string };
  };
  const login = { identity: 'a@example.org', password };
  const { token } = await send('/api/collections/_superusers/auth-with-password', login);
  const rules = { listRule: '', viewRule: '', createRule: '' };
  const fields = [
    { name: 'title', type: 'text', required: true },
    { name: 'body', type: 'text', max: 100_000 },
    { name: 'created', type: 'autodate', onCreate: true },
  ];
  const indexes = ['CREATE INDEX postsByCreation ON posts (created)'];
  const collection = { name: 'posts', type: 'base', ...rules, fields, indexes };
  await send('/api/collections', collection, token);
}

/** A started server. */
class PeerServer implements AsyncDisposable {
  readonly #process;
  readonly port: number;
  readonly requests: Record<RequestKind, string[]> = { GET: [], page: [], POST: [] };

  private constructor(command: readonly string[], port: number, log: string) {
    const [file = '', ...args] = pinned('server', command);
    const output = openSync(log, 'a');
    const env = { ...process.env, NODE_ENV: 'production' };
    this.#process = spawn(file, args, { stdio: ['ignore', output, output], env });
    this.port = port;
  }

  static async start(peer: Peer, folder: string): Promise<PeerServer> {
    const port = await freePort();
    const log = join(folder, 'server.log');
    mkdirSync(folder, { recursive: true });
    const server = new PeerServer(peer.command(String(port), folder), port, log);
    try {
      await server.#fill(peer, folder);
      return server;
    } catch (cause) {
      await server[Symbol.asyncDispose]();
      throw new Error(`${peer.name}: ${readFileSync(log, 'utf8').slice(-2000)}`, { cause });
    }
  }

  /** Creates the posts and prepares the requests. */
  async #fill({ path, page, prepare }: Peer, folder: string): Promise<void> {
    const url = `http://127.0.0.1:${this.port}`;
    for (let tries = 0; ; tries++) {
      const reached = await fetch(url).catch(() => undefined);
      if (reached !== undefined) break;
      if (tries === 100) throw new Error('It does not start.');
      await sleep(100);
    }
    await prepare?.(url, folder);
    for (const input of inputs) {
      const json = JSON.stringify(input);
      const headers = { 'Content-Type': 'application/json' };
      const response = await fetch(url + path, { method: 'POST', headers, body: json });
      const post = (await response.json()) as { readonly id: string };
      this.requests.GET.push(wire('GET', `${path}/${post.id}`));
      this.requests.POST.push(wire('POST', path, json));
    }
    this.requests.page.push(wire('GET', path + page));
    const list = await (await fetch(url + path + page)).text();
    if (list.split('"title"').length !== 21) throw new Error(`Not a page of 20: ${list}`);
  }

  /** User and system CPU time of the process so far in microseconds. */
  cpuUs(): number {
    const stat = readFileSync(`/proc/${this.#process.pid}/stat`, 'utf8').split(') ')[1] ?? '';
    const [user = 0, system = 0] = stat.split(' ').slice(11, 13).map(Number);
    return (user + system) * 10_000;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.#process.exitCode === null ? once(this.#process, 'exit') : undefined;
    this.#process.kill();
    await ended;
  }
}

/** Measures alternatives to Rostrum on SQLite, or on their default store. Returns a Markdown table. */
export async function measurePeers(options: Options, { folder }: Workspace): Promise<string> {
  if (process.platform !== 'linux')
    throw new Error('Processor time is read from /proc: use Linux.');
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, 'package.json'), '{"private":true,"type":"module"}');
  const install = ['install', '--no-audit', '--no-fund', ...versions];
  const { code, output } = await npm(install, { cwd: installed });
  if (code !== 0) throw new Error(`They cannot be installed: ${output}`);
  copyFileSync(join(import.meta.dirname, 'feathers.js'), join(installed, 'feathers.js'));
  const peers = peersFor(buildServers());
  const script = join(import.meta.dirname, '..', 'client.ts');
  await using client = new Child('client', [script], ['ignore', 'inherit', 'inherit', 'ipc']);
  const all = requestKinds.map((kind) => ({
    kind,
    figures: new Figures<string, 'rate' | 'cpu'>(),
  }));
  for (let round = 0; round < options.rounds; round++) {
    say(`round ${round + 1} of ${options.rounds}`);
    await using stack = new AsyncDisposableStack();
    const servers = new Map<string, PeerServer>();
    for (const peer of peers) {
      const own = join(folder, `${peer.name}-${round}`);
      servers.set(peer.name, stack.use(await PeerServer.start(peer, own)));
    }
    for (const { kind, figures } of all) {
      for (let turn = -1; turn < options.turns; turn++) {
        for (const [name, server] of inTurn([...servers], turn)) {
          const ms = turn < 0 ? options.warmMs : options.busyMs;
          const load = { connections: busy, ms, requests: server.requests[kind] };
          await client.ask({ ...load, port: server.port });
          const before = server.cpuUs();
          const { rate, requests } = await client.ask<LoadResult>('go');
          if (turn >= 0) figures.add(name, { rate, cpu: (server.cpuUs() - before) / requests });
        }
      }
    }
  }
  const rows = all.flatMap(({ kind, figures }) => {
    const columns = figures.columns();
    const own = columns.Rostrum;
    return Object.entries(columns).map(([name, { rate, cpu }]) => [
      ...[kind, name, spread(rate, 0), spread(cpu, 0)],
      ...(own === undefined || name === 'Rostrum' ? ['', ''] : more(own, { rate, cpu })),
    ]);
  });
  const times = ['Rostrum’s requests / its', 'its time / Rostrum’s'];
  return table(['request', 'server', 'requests/s', 'processor µs', ...times], rows);
}

type Columns = Readonly<Record<'rate' | 'cpu', readonly number[]>>;

function more(own: Columns, { rate, cpu }: Columns): string[] {
  return [spread(ratios(own.rate, rate), 1), spread(ratios(cpu, own.cpu), 1)];
}
