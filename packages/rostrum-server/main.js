#!/usr/bin/env node
// Starts the program of the package `rostrum`. What it needs are this package's dependencies.
await import(new URL('dist/main.js', import.meta.resolve('rostrum/package.json')).href);
