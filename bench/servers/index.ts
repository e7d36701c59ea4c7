// The servers to compare with: `bare`, `fastify` or `koa` on a store. Prints its URL like Rostrum. Loads only
// the modules that it needs.

import { openBareStore } from './store.ts';

const [name, url = ''] = process.argv.slice(2);
const starts = {
  bare: async () => (await import('./bare.ts')).bare,
  fastify: async () => (await import('./fastify.ts')).fastify,
  koa: async () => (await import('./koa.ts')).koa,
};
const start = await starts[name as keyof typeof starts]();
const port = await start(await openBareStore(url));
process.stdout.write(`${name} is ready at http://127.0.0.1:${port}\n`);
