import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { median } from './rounds.ts';

/** What a server is asked, by how many clients, for how long. */
export interface Load {
  readonly port: number;
  readonly connections: number;
  readonly ms: number;
  /** The request with a number, as text. */
  readonly request: (n: number) => string;
}

export interface Result {
  readonly answers: number;
  /** Answers a second. */
  readonly rate: number;
  /** The median time from a request to its answer. */
  readonly medianMs: number;
}

let busiest = 0;

/** The most of one processor that a client has used so far. Near 1, it would be what is measured. */
export function busiestClient(): number {
  return busiest;
}

/**
 * Asks over connections that are kept alive, on each as soon as the answer is there. On sockets
 * and not on an HTTP client, which would take more time than the servers do.
 */
export async function load({ port, connections, ms, request }: Load): Promise<Result> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
  const cpu = process.cpuUsage();
  const start = performance.now();
  let sent = 0;
  const times: number[] = [];
  await Promise.all(
    sockets.map(async (socket) => {
      const answered = answersOf(socket);
      while (performance.now() - start < ms) {
        const asked = performance.now();
        socket.write(request(sent++));
        await answered();
        times.push(performance.now() - asked);
      }
      socket.destroy();
    }),
  );
  const elapsed = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  busiest = Math.max(busiest, (user + system) / 1000 / elapsed);
  const answers = times.length;
  return { answers, rate: (answers / elapsed) * 1000, medianMs: median(times) };
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return socket;
}

/** @returns what waits for the next answer to be there as a whole; rejects when it is no success */
function answersOf(socket: Socket): () => Promise<void> {
  let received: Buffer = Buffer.alloc(0);
  let waiting = Promise.withResolvers<void>();
  let missing: number | undefined;
  const fail = (why: string) => waiting.reject(new Error(`The server answered ${why}.`));

  socket.on('error', ({ message }) => fail(`with an error, ${message}`));
  socket.on('close', () => fail('with the end of the connection'));
  socket.on('data', (chunk) => {
    if (missing === undefined) {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const end = received.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = received.toString('latin1', 0, end);
      if (!/^HTTP\/1\.1 20[01] /.test(head)) return fail(head.split('\r\n', 1).join());
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1]);
      missing = end + 4 + length - received.length;
      received = Buffer.alloc(0);
    } else {
      missing -= chunk.length;
    }
    if (missing > 0) return;
    missing = undefined;
    waiting.resolve();
  });
  return () => {
    waiting = Promise.withResolvers<void>();
    return waiting.promise;
  };
}
