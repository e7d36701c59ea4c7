import { registerHooks } from 'node:module';
import pg from 'pg';
import type { Store } from '../../src/ports/index.ts';
import { describeStore } from '../../src/testing/index.ts';
import { describeOnPostgresql, freshDatabase, sharedPostgresql } from '../support/postgresql.ts';

// The example imports the package by its name; here that is the source.
registerHooks({
  resolve: (name, context, next) =>
    next(
      name === 'rostrum/ports' ? import.meta.resolve('../../src/ports/index.ts') : name,
      context,
    ),
});
const { openPostgresqlStore } = await import('../../examples/postgresql-store/index.ts');

describeOnPostgresql('The example of a store on PostgreSQL', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let admin: pg.Client;

  before(async function connect() {
    this.timeout(60_000);
    database = await freshDatabase(await sharedPostgresql());
    admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
  });

  after(async () => {
    await admin.end();
    await database[Symbol.asyncDispose]();
  });

  const open = ({ customFilters }: Pick<Store, 'customFilters'>) =>
    openPostgresqlStore({ connectionString: database.url }, { customFilters });

  describeStore('postgresql', {
    describe,
    it,
    open: async (options) => {
      const store = await open(options);
      const tables = ['posts', 'users'].flatMap((name) => [
        name,
        `${name}_ids`,
        `${name}_receipts`,
      ]);
      await admin.query(tables.map((table) => `delete from rostrum.${table}`).join(';'));
      return store;
    },
    another: open,
    reopen: (_, options) => open(options),
  });
});
