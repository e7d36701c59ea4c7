// Serves Rostrum in Deno, which runs the TypeScript sources directly. Prints its URL.

import { createFetchHandler } from '../../src/adapters/http/fetch/index.ts';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { createRostrum } from '../../src/index.ts';

const handle = createFetchHandler(createRostrum(createMemoryStore()), { prefix: '/forum' });
const onListen = ({ port }) => console.log(`http://127.0.0.1:${port}`);
globalThis.Deno.serve({ port: 0, hostname: '127.0.0.1', onListen }, handle);
