import { registerHooks } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import {
  earliestInstant,
  isRostrumError,
  latestInstant,
  type Receipt,
  type Store,
  type User,
} from '../../src/ports/index.ts';
import { describeStore } from '../../src/testing/index.ts';
import {
  describeOnOwnPostgresql,
  describeOnPostgresql,
  freshDatabase,
  sharedPostgresql,
  startPostgresql,
} from '../support/postgresql.ts';
import { untilServed } from '../support/until.ts';

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

describeOnOwnPostgresql(
  'The example of a store on PostgreSQL, whose server is killed',
  function () {
    this.timeout(60_000);

    it('has lost nothing that was acknowledged, and nothing that made nothing is there', async () => {
      await using server = await startPostgresql();
      await using store = await openPostgresqlStore({ connectionString: server.url });
      const acknowledged: Creation[] = [];
      const failed: (Creation & { readonly error: unknown })[] = [];
      const writers = Array.from({ length: 20 }, async (_, writer) => {
        for (let n = 0; failed.every(({ user }) => !user.id.startsWith(`${writer}-`)); n++) {
          const creation = creationOf(`${writer}-${n}`);
          await store.users.create(creation.user, creation.receipt).then(
            () => acknowledged.push(creation),
            (error) => failed.push({ ...creation, error }),
          );
        }
      });
      await sleep(500);
      await server.kill();
      await Promise.all(writers);
      await server.start();
      await untilServed(() => store.ready());

      expect(acknowledged.length).to.be.greaterThan(20);
      for (const { user, receipt } of acknowledged) {
        expect((await store.users.get(user.id))?.record).to.deep.equal(user);
        expect((await store.users.create(user, receipt)).replayed).to.equal(true);
      }
      expect(failed.length).to.equal(20);
      for (const { user, receipt, error } of failed) {
        if (!isRostrumError(error, 'store-unavailable')) throw error;
        const isThere = (await store.users.get(user.id)) !== undefined;
        if (error.details.outcome === 'none') expect(isThere, user.id).to.equal(false);
        expect((await store.users.create(user, receipt)).replayed).to.equal(isThere);
      }
    });
  },
);

interface Creation {
  readonly user: User;
  readonly receipt: Receipt;
}

function creationOf(id: string): Creation {
  const times = { createdAt: earliestInstant, updatedAt: earliestInstant };
  return {
    user: { id, ...times, name: id, email: `${id}@example.com` },
    receipt: { key: id, fingerprint: id, from: earliestInstant, until: latestInstant },
  };
}
