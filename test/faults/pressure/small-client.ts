// Sends small requests, in a separate process so that the load does not slow it down. It calls the server in
// its first argument 20 times a second: a list of one, the user in its second argument, new users (one of them
// in chunks), and /livez. Sends a message when it starts. Any message makes it stop and send its results.

import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../clients.ts';

export interface Seen {
  /** The number of requests. */
  readonly all: number;
  readonly failed: number;
  /** Milliseconds. */
  readonly p99: number;
  readonly slowest: number;
}

async function askUntilToldToEnd(address: string, id: string): Promise<Seen> {
  let failed = 0;
  const times: number[] = [];
  const ended = new AbortController();
  process.once('message', () => ended.abort());
  const asked: Promise<void>[] = [];
  process.send?.('begun');
  async function ask(wanted: number, path: string, init?: RequestInit): Promise<void> {
    const start = performance.now();
    const status = await fetch(address + path, init).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 599,
    );
    if (status !== wanted) failed += 1;
    times.push(performance.now() - start);
  }
  const body = '{"name":"Ann"}';
  const creation = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
  for (let n = 0; !ended.signal.aborted; n++) {
    // fetch sends a stream in chunks.
    const inChunks = { body: new Blob([body]).stream(), duplex: 'half' } as const;
    if (n % 4 === 0) asked.push(ask(200, '/api/v1/users?limit=1'));
    else if (n % 4 === 1) asked.push(ask(201, '/api/v1/users', { ...creation, body }));
    else if (n % 4 === 2) asked.push(ask(200, '/livez'));
    else if (n % 8 === 3) asked.push(ask(200, `/api/v1/users/${id}`));
    else asked.push(ask(201, '/api/v1/users', { ...creation, ...inChunks }));
    await sleep(50);
  }
  await Promise.all(asked);
  return { all: times.length, failed, p99: quantile(times, 0.99), slowest: Math.max(...times) };
}

process.on('disconnect', () => process.exit()); // The scenario ended before the client.
const [address = '', id = ''] = process.argv.slice(2);
process.send?.(await askUntilToldToEnd(address, id));
process.disconnect();
