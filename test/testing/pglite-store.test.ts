import { PGlite } from '@electric-sql/pglite';
import { describeStore } from '../../src/testing/index.ts';
import { createTables, openPgliteStore } from './pglite-store.ts';

/** A database that the project does not ship: the suite asks nothing that only our stores have. */
describe('a store on PostgreSQL', () => {
  const schema = 'rostrum';
  let db: PGlite;

  before(async function start() {
    this.timeout(60_000);
    db = await PGlite.create();
    await createTables(db, schema);
  });

  after(() => db.close());

  describeStore('pglite', {
    describe,
    it,
    // Tables that are emptied cost a tenth of new ones.
    open: async () => {
      const tables = ['posts', 'users', 'user_ids', 'post_ids', 'user_receipts', 'post_receipts'];
      await db.exec(tables.map((table) => `delete from ${schema}.${table}`).join(';'));
      return openPgliteStore(db, schema);
    },
  });
});
