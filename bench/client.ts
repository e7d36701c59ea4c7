// The client process. Sends prepared requests over plain sockets, the next one on each after each response.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { readResponses } from '../test/support/responses.ts';

/** The requests to send, the number of connections, and the duration. */
export interface Load {
  readonly port: number;
  readonly connections: number;
  readonly ms: number;
  /** Complete requests, sent in rotation. */
  readonly requests: readonly string[];
}

export interface LoadResult {
  readonly requests: number;
  /** Requests per second. */
  readonly rate: number;
  /** Milliseconds from a request to its complete response. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The share of a core that the client used. Near 1, the client is the bottleneck. */
  readonly clientBusy: number;
}

/** Sends requests until the time is over, and returns all response times in milliseconds. */
async function send(sockets: readonly Socket[], load: Load): Promise<number[]> {
  const requests = load.requests.map((request) => Buffer.from(request));
  const times: number[] = [];
  const end = performance.now() + load.ms;
  let sent = 0;
  const sendAll = (socket: Socket) =>
    new Promise<void>((resolve, reject) => {
      let since = 0;
      const next = () => {
        since = performance.now();
        if (since >= end) return resolve();
        socket.write(requests[sent++ % requests.length] ?? '');
      };
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('The server closed a connection.')));
      const received = (head: string) => {
        if (!head.startsWith('HTTP/1.1 20')) return reject(new Error(`The server sent ${head}`));
        times.push(performance.now() - since);
        next();
      };
      readResponses(socket, received, reject);
      next();
    });
  await Promise.all(sockets.map(sendAll));
  return times;
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return socket;
}

// Each load takes two messages: the first opens the connections, the second starts sending.
process.on('message', async (load: Load | 'go') => {
  if (load === 'go') return;
  const sockets = await Promise.all(
    Array.from({ length: load.connections }, () => open(load.port)),
  );
  const go = once(process, 'message');
  process.send?.('open');
  await go;
  const cpu = process.cpuUsage();
  const start = performance.now();
  const times = (await send(sockets, load)).sort((a, b) => a - b);
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  for (const socket of sockets) socket.removeAllListeners('close').destroy();
  const result: LoadResult = {
    requests: times.length,
    rate: times.length / seconds,
    p50Ms: times[Math.floor(times.length * 0.5)] ?? Number.NaN,
    p99Ms: times[Math.floor(times.length * 0.99)] ?? Number.NaN,
    clientBusy: (user + system) / 1e6 / seconds,
  };
  process.send?.(result);
});
