// The tests of faults.slow.ts, and those of a MongoDB server that stays away until a restart.

process.env.LASTING_FAULTS = 'all';
await import('./faults.slow.ts');

export {};
