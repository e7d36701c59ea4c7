import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readResponses } from '../support/responses.ts';

/** The load of clients that each have a connection and send the next request after each response. */
export interface ClientLoad {
  readonly port: number;
  readonly clients: number;
  /** The maximum number of concurrent requests. Defaults to the number of clients. */
  readonly active?: number;
  readonly ms: number;
  /** Requests during this warm-up time in milliseconds are not counted. */
  readonly warmMs: number;
  /** A complete request. */
  readonly request: string;
}

export interface ClientReport {
  /** Successful requests per second. */
  readonly goodput: number;
  /** Response times of successful requests in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** 503 responses per second, and their response times in milliseconds. */
  readonly refused: number;
  readonly refusedP99: number;
  /** Other responses and broken connections. Must be 0. */
  readonly odd: number;
}

interface Response {
  readonly status: number;
  readonly retryAfter: number;
}

/**
 * Runs the clients. After a 503, a client waits for the time in `Retry-After`.
 *
 * @param connected called when all are connected; they begin when its promise resolves
 */
export async function runClients(
  load: ClientLoad,
  connected: () => Promise<unknown>,
): Promise<ClientReport> {
  const { port, clients, active = clients, ms, warmMs, request } = load;
  const [served, refused]: [number[], number[]] = [[], []];
  const bytes = Buffer.from(request);
  let [odd, from] = [0, 0];
  let free = active;
  const waiting: (() => void)[] = [];
  const begin = async () => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const end = () => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  const over = new AbortController();
  const run = async (socket: Socket) => {
    const receive = responsesOf(socket);
    try {
      await sleep(Math.random() * warmMs * 0.5); // Spread the clients over time.
      while (!over.signal.aborted) {
        await begin();
        if (over.signal.aborted) return;
        const start = performance.now();
        socket.write(bytes);
        const { status, retryAfter } = await receive();
        end();
        if (over.signal.aborted) return;
        const counts = start > from;
        if (status < 300) {
          if (counts) served.push(performance.now() - start);
        } else if (status !== 503) {
          odd += 1;
        } else {
          if (counts) refused.push(performance.now() - start);
          await sleep(retryAfter * 1000, undefined, { signal: over.signal });
        }
      }
    } catch {
      if (!over.signal.aborted) odd += 1;
    }
  };
  const sockets: Socket[] = [];
  for (let n = 0; n < clients; n++) {
    sockets.push(connect(port, '127.0.0.1').setNoDelay());
    if (n % 100 === 99) await sleep(20);
  }
  await Promise.all(sockets.map((socket) => socket.connecting && once(socket, 'connect')));
  await connected();
  from = performance.now() + warmMs;
  const running = sockets.map(run);
  await sleep(warmMs + ms);
  over.abort();
  const seconds = (performance.now() - from) / 1000;
  for (const socket of sockets) socket.destroy();
  for (const next of waiting) next();
  await Promise.all(running);
  return {
    goodput: Math.round(served.length / seconds),
    p50: quantile(served, 0.5),
    p99: quantile(served, 0.99),
    refused: Math.round(refused.length / seconds),
    refusedP99: quantile(refused, 0.99),
    odd,
  };
}

/** Reads one response of a connection per call. */
function responsesOf(socket: Socket): () => Promise<Response> {
  let wanted = Promise.withResolvers<Response>();
  wanted.promise.catch(() => {}); // Ignore the end of clients that are not waiting for a response.
  socket.on('error', () => {}).on('close', () => wanted.reject(new Error('The connection ended.')));
  const received = (head: string) => {
    const retryAfter = Number(/\r\nretry-after: (\d+)/i.exec(head)?.[1]);
    wanted.resolve({ status: Number(head.slice(9, 12)), retryAfter });
  };
  readResponses(socket, received, (error) => socket.destroy(error));
  return async () => {
    const response = await wanted.promise;
    wanted = Promise.withResolvers();
    wanted.promise.catch(() => {});
    return response;
  };
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return Math.round(value * 10) / 10;
}
