import { registerHooks } from 'node:module';

// The examples import the package by name. Resolve the name to the source.
registerHooks({
  resolve: (name, context, next) =>
    next(
      name === 'rostrum/ports' ? import.meta.resolve('../../src/ports/index.ts') : name,
      context,
    ),
});

export const { openFileStore } = await import('../../examples/file-store/index.ts');
export const { openPostgresqlStore } = await import('../../examples/postgresql-store/index.ts');
