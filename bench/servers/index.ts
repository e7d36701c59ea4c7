// What Rostrum is compared to: `bare` or `fastify` on a store. Says where it listens, as Rostrum
// does.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { openBareStore } from './store.ts';

const [name, url = ''] = process.argv.slice(2);
const store = await openBareStore(url);
const port = name === 'fastify' ? await startFastify() : await startBare();
process.stdout.write(`${name} is ready at http://127.0.0.1:${port}\n`);

async function startFastify(): Promise<number> {
  const { fastify } = await import('./fastify.ts');
  return await fastify(store);
}

async function startBare(): Promise<number> {
  const { bare } = await import('./bare.ts');
  const server = bare(store).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
