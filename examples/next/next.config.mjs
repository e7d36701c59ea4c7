import { join } from 'node:path';

/** Rostrum and what it stands on are loaded by Node and not bundled: Koa is CommonJS. */
export default {
  serverExternalPackages: ['rostrum'],
  // In this repository the package is two folders up. Elsewhere this line is not needed.
  turbopack: { root: join(import.meta.dirname, '../..') },
};
