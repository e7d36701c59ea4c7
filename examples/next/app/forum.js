import { createRostrum } from 'rostrum';
import { createFetchHandler } from 'rostrum/fetch';
import { createMemoryStore } from 'rostrum/memory';

/** One for the process: Next may evaluate a module once for each route that imports it. */
globalThis.forum ??= createRostrum(createMemoryStore());

export const { forum } = globalThis;
export const handle = createFetchHandler(forum, { prefix: '/forum' });
