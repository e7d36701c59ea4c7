// Runs these files on all stores. `npm test` only uses the memory store, because the core enforces access.

process.env.TEST_STORES = 'all';
await import('./rights.slow.ts');
await import('./difference/difference.slow.ts');
