// Runs faults.slow.ts, including the tests in which MongoDB fails until a restart.

process.env.LASTING_FAULTS = 'all';
await import('./faults.slow.ts');

export {};
