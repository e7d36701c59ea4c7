// What `npm test` shows on the memory store alone, because the core decides it, on every store.

process.env.TEST_STORES = 'all';
await import('./rights.test.ts');
await import('./difference/difference.test.ts');
