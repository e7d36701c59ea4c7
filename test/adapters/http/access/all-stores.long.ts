// `npm test` runs these files on the memory store only, because the core enforces access. This runs them on all
// stores.

process.env.TEST_STORES = 'all';
await import('./rights.test.ts');
await import('./difference/difference.test.ts');
