// Runs these files on all stores. `npm test` only uses the memory store, because the core enforces access.

process.env.TEST_STORES = 'all';
await import('./rights.test.ts');
await import('./difference/difference.test.ts');
