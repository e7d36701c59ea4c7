// Restarts the program on SQLite with SIGTERM, while clients create and read records. No accepted request may
// fail: every request that the server read must get a complete response. Refused connections, 503
// `shutting-down`, and requests that the server never read don't count. A record whose creation got no response
// must not exist.
//
//   node test/faults/restart-under-load.ts [--restarts 100] [--clients 16]

import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
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

/** The result of a request. */
type Outcome =
  | { readonly kind: 'served'; readonly body: string }
  | { readonly kind: 'refused' | 'shutting down' | 'not read' | 'dropped' | 'cut' | 'odd' };

const counts: Record<Outcome['kind'], number> = {
  served: 0,
  refused: 0,
  'shutting down': 0,
  'not read': 0,
  /** The server read the whole request and closed the connection without a response. */
  dropped: 0,
  cut: 0,
  odd: 0,
};
const acknowledged = new Map<string, string>();
const unanswered = new Set<string>();
let port = 0;
let isOver = false;

/** The maximum response time in milliseconds: longer than a shutdown takes. */
const responseMs = 30_000;

/** The maximum time in milliseconds until a connection reset arrives from a server that stopped reading. */
const resetMs = 50;

/** A client connection with one request at a time, which observes the wire exactly. */
class ClientConnection {
  readonly #socket: Socket;
  readonly #connected = Promise.withResolvers<boolean>();
  #received = '';
  #end: 'reset' | 'ended' | undefined;
  #changed = () => {};

  constructor() {
    // Stay open when the server closes its side, to learn whether it read the request.
    this.#socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    this.#socket
      .setEncoding('utf8')
      .on('connect', () => this.#connected.resolve(true))
      .on('data', (text: string) => {
        this.#received += text;
        this.#changed();
      })
      .on('end', () => this.#ends('ended'))
      .on('error', () => this.#ends('reset'));
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  async send(text: string): Promise<Outcome> {
    if (!(await this.#connected.promise)) return { kind: 'refused' };
    this.#socket.write(text);
    const late = sleep(responseMs, 'late' as const, { ref: false });
    for (;;) {
      const response = /^HTTP\/1\.1 (\d+)[\s\S]*?\r\n\r\n([\s\S]*)$/.exec(this.#received);
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#received)?.[1]);
      const [, status = '', body = ''] = response ?? [];
      if (response !== null && Number.isNaN(length)) return { kind: 'odd' };
      if (Buffer.byteLength(body) === length) {
        if (/\r\nconnection: close/i.test(this.#received)) this.close();
        this.#received = '';
        return outcomeOf(text, Number(status), body);
      }
      if (!this.isOpen) return { kind: await this.#lost() };
      const more = new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
      if ((await Promise.race([more, late])) === 'late') {
        this.close();
        return { kind: 'odd' };
      }
    }
  }

  close(): void {
    this.#end ??= 'ended';
    this.#socket.destroy();
  }

  /**
   * Returns why there is no response. A server that closes a connection without reading all data resets it
   * (RFC 9293, section 3.6.1).
   */
  async #lost(): Promise<'not read' | 'dropped' | 'cut'> {
    if (this.#received !== '') return 'cut';
    if (this.#end === 'reset') return 'not read';
    await sleep(resetMs);
    const isReset = await new Promise<boolean>((resolve) => {
      this.#socket.write('\r\n', (error) => resolve(error instanceof Error));
    });
    this.close();
    return isReset ? 'not read' : 'dropped';
  }

  #ends(how: 'reset' | 'ended'): void {
    this.#end ??= how;
    this.#connected.resolve(false);
    this.#changed();
  }
}

function outcomeOf(request: string, status: number, body: string): Outcome {
  if (status === 200 || status === 201) return { kind: 'served', body };
  const isLate = body.includes('"code":"shutting-down"');
  if (!isLate) console.log(`${request}: ${status} ${body}`);
  return { kind: isLate ? 'shutting down' : 'odd' };
}

function requestOf(method: string, path: string, body = ''): string {
  const length = Buffer.byteLength(body);
  const form = `Content-Type: application/json\r\nContent-Length: ${length}\r\n`;
  const headers = `Host: localhost\r\n${body === '' ? '' : form}`;
  return `${method} /api/v1${path} HTTP/1.1\r\n${headers}\r\n${body}`;
}

async function client(): Promise<void> {
  let last: User | undefined;
  let connection = new ClientConnection();
  for (let n = 0; !isOver; n++) {
    const name = randomUUID();
    const creates = last === undefined || n % 2 === 0;
    if (!connection.isOpen) connection = new ClientConnection();
    const outcome = await connection.send(
      creates
        ? requestOf('POST', '/users', JSON.stringify({ name, own: 'x'.repeat(n % 1000) }))
        : requestOf('GET', `/users/${last?.id}`),
    );
    counts[outcome.kind] += 1;
    if (outcome.kind === 'served') {
      last = JSON.parse(outcome.body) as User;
      if (creates) acknowledged.set(name, last.id);
    } else {
      if (creates && outcome.kind !== 'refused') unanswered.add(name);
      await sleep(10);
    }
  }
  connection.close();
}

/** Returns the ids of all users by name. */
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
  port = Number(new URL(server.address).port);
  while (clients.length < Number(values.clients)) clients.push(client());
  if (restarts === Number(values.restarts)) {
    isOver = true;
    await Promise.all(clients);
    const found = await allUsers(server.address);
    const lost = [...acknowledged].filter(([name, id]) => !found.get(name)?.includes(id)).length;
    const twice = [...found.values()].filter((ids) => ids.length > 1).length;
    const failed =
      counts.cut + counts.dropped + [...unanswered].filter((name) => found.has(name)).length;
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
