import { registerHooks } from 'node:module';

// The example imports the package by name. Resolve the name to the source.
registerHooks({
  resolve: (name, context, next) =>
    next(
      name === 'rostrum/ports' ? import.meta.resolve('../../src/ports/index.ts') : name,
      context,
    ),
});

export const { openPostgresqlStore } = await import('../../examples/postgresql-store/index.ts');
