// The client of small requests: a process of its own, so that what presses the server does not slow it
// down. It asks the server of its argument 20 times a second: lists of one and of the usual limit, new
// users, one of them in chunks, /livez. A message ends it; it answers with what it saw.

import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../clients.ts';

export interface Seen {
  /** Requests. */
  readonly all: number;
  readonly failed: number;
  /** Milliseconds. */
  readonly slowest: number;
  readonly failedPosts: number;
  readonly postP99: number;
}

const headers = { 'Content-Type': 'application/json' };

async function askUntilToldToEnd(address: string): Promise<Seen> {
  const seen = { all: 0, failed: 0, slowest: 0, failedPosts: 0 };
  const posts: number[] = [];
  const ended = new AbortController();
  process.once('message', () => ended.abort());
  const asked: Promise<void>[] = [];
  async function ask(wanted: number, path: string, init?: RequestInit): Promise<void> {
    const start = performance.now();
    const status = await fetch(address + path, init).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 599,
    );
    seen.all += 1;
    if (status !== wanted) seen.failed += 1;
    const ms = performance.now() - start;
    seen.slowest = Math.max(seen.slowest, ms);
    if (init === undefined) return;
    posts.push(ms);
    if (status !== wanted) seen.failedPosts += 1;
  }
  const body = '{"name":"Ann"}';
  for (let n = 0; !ended.signal.aborted; n++) {
    const post = { method: 'POST', headers };
    // A stream is sent in chunks.
    const inChunks = { body: new Blob([body]).stream(), duplex: 'half' } as const;
    if (n % 4 === 0) asked.push(ask(200, '/api/v1/posts?limit=1'));
    else if (n % 4 === 1) asked.push(ask(201, '/api/v1/users', { ...post, body }));
    else if (n % 4 === 2) asked.push(ask(200, '/livez'));
    else if (n % 8 === 3) asked.push(ask(200, '/api/v1/posts?title=none'));
    else asked.push(ask(201, '/api/v1/users', { ...post, ...inChunks }));
    await sleep(50);
  }
  await Promise.all(asked);
  return { ...seen, postP99: quantile(posts, 0.99) };
}

process.send?.(await askUntilToldToEnd(String(process.argv[2])));
process.disconnect();
