// The servers that are measured, in a process of their own: the program's, the program's with its
// log, and a bare one, on one store. Its arguments are the store's URL and the posts to begin with.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createApp, serve } from '../src/adapters/http/index.ts';
import { createLogger } from '../src/adapters/system/logger.ts';
import { createRostrum } from '../src/index.ts';
import { bareServer } from './bare-server.ts';
import { fill } from './fill.ts';
import type { Ports, Used } from './serving.ts';
import { open } from './workspace.ts';

const [url = '', posts = ''] = process.argv.slice(2);
const store = await open(url);
await fill(store, Number(posts));

const rostrum = createRostrum(store);
const ready = () => store.ready();
const plain = await serve(createApp(rostrum, { ready }), { port: 0 });
const logger = createLogger('info');
const logging = await serve(createApp(rostrum, { ready, logger }), { port: 0, logger });

const bare = bareServer(store).listen(0, '127.0.0.1');
await once(bare, 'listening');

const ports: Ports = {
  rostrum: plain.address.port,
  logging: logging.address.port,
  bare: (bare.address() as AddressInfo).port,
};
process.send?.(ports);
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMs: (user + system) / 1000 } satisfies Used);
});

await once(process, 'disconnect');
bare.close();
bare.closeAllConnections();
await Promise.all([plain.close(), logging.close()]);
await store.close();
