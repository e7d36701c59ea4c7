// Restarts the program on SQLite, by SIGTERM, while clients create and read records. Of what the server
// accepted nothing may fail: each request has a record of its own, so that a request without a response
// has failed when its record is there. These do not count: a connection that was refused, a 503
// `shutting-down`, and a connection that ended before the server did anything with a request on it.
//
//   node test/faults/restart-under-load.ts [--restarts 100] [--clients 16]

import { randomUUID } from 'node:crypto';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { startServer } from '../support/server.ts';

const { values } = parseArgs({
  options: {
    restarts: { type: 'string', default: '100' },
    clients: { type: 'string', default: '16' },
  },
});

interface User {
  readonly id: string;
  readonly name: string;
}

/** What a client saw of one request. */
type Outcome =
  | { readonly kind: 'served'; readonly body: string }
  | { readonly kind: 'refused' | 'shutting down' | 'unanswered' | 'cut' | 'odd' };

const counts: Record<Outcome['kind'], number> = {
  served: 0,
  refused: 0,
  'shutting down': 0,
  unanswered: 0,
  cut: 0,
  odd: 0,
};
const acknowledged = new Map<string, string>();
const unanswered = new Set<string>();
let target = { address: '', agent: new Agent() };
let isOver = false;

async function send(method: string, path: string, body?: string): Promise<Outcome> {
  const { address, agent } = target;
  const headers = { 'Content-Type': 'application/json' };
  const sent = request(`${address}/api/v1${path}`, { method, agent, headers });
  let response: IncomingMessage | undefined;
  try {
    response = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve).once('error', reject).end(body);
    });
    const received = await text(response);
    if (response.statusCode === 200 || response.statusCode === 201) {
      return { kind: 'served', body: received };
    }
    const isLate = received.includes('"code":"shutting-down"');
    if (!isLate) console.log(`${method} ${path}: ${response.statusCode} ${received}`);
    return { kind: isLate ? 'shutting down' : 'odd' };
  } catch (error) {
    if (response !== undefined) return { kind: 'cut' };
    const { code } = error as { readonly code?: string };
    return { kind: code === 'ECONNREFUSED' ? 'refused' : 'unanswered' };
  }
}

async function client(): Promise<void> {
  let last: User | undefined;
  for (let n = 0; !isOver; n++) {
    const name = randomUUID();
    const creates = last === undefined || n % 2 === 0;
    const outcome = creates
      ? await send('POST', '/users', JSON.stringify({ name, own: 'x'.repeat(n % 1000) }))
      : await send('GET', `/users/${last?.id}`);
    counts[outcome.kind] += 1;
    if (outcome.kind === 'served') {
      last = JSON.parse(outcome.body) as User;
      if (creates) acknowledged.set(name, last.id);
    } else {
      if (creates && outcome.kind !== 'refused') unanswered.add(name);
      await sleep(10);
    }
  }
}

/** The ids of all users, by their names. */
async function allUsers(address: string): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const response = await fetch(`${address}/api/v1/users?limit=1000${query}`);
    const page = (await response.json()) as { users: readonly User[]; next: string | null };
    for (const { id, name } of page.users) found.set(name, [...(found.get(name) ?? []), id]);
    cursor = page.next;
  }
  return found;
}

await using folder = await temporaryDirectory();
const store = ['--store', `sqlite:${folder.path}/rostrum.db`];
const clients: Promise<void>[] = [];
let [restarts, orderly, slowest] = [0, 0, 0];
for (;;) {
  await using server = await startServer(...store);
  target.agent.destroy();
  target = { address: server.address, agent: new Agent({ keepAlive: true }) };
  while (clients.length < Number(values.clients)) clients.push(client());
  if (restarts === Number(values.restarts)) {
    isOver = true;
    await Promise.all(clients);
    const found = await allUsers(server.address);
    const lost = [...acknowledged].filter(([name, id]) => !found.get(name)?.includes(id)).length;
    const twice = [...found.values()].filter((ids) => ids.length > 1).length;
    const failed = counts.cut + [...unanswered].filter((name) => found.has(name)).length;
    console.log({ restarts, orderly, slowestMs: Math.round(slowest), ...counts });
    console.log({ acknowledged: acknowledged.size, lost, twice, failed });
    const isGood = lost + twice + failed + counts.odd === 0 && orderly === restarts;
    if (!isGood) process.exitCode = 1;
    break;
  }
  await sleep(100 + Math.random() * 300);
  const start = performance.now();
  if ((await server.stop('SIGTERM')) === 0) orderly += 1;
  slowest = Math.max(slowest, performance.now() - start);
  restarts += 1;
}
target.agent.destroy();
