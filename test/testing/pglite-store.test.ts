import { PGlite } from '@electric-sql/pglite';
import { describeStore } from '../../src/testing/index.ts';
import { openPgliteStore } from './pglite-store.ts';

/** A database that the project does not ship: the suite asks nothing that only our stores have. */
describe('a store on PostgreSQL', () => {
  let db: PGlite;
  let schemas = 0;

  before(async function start() {
    this.timeout(60_000);
    db = await PGlite.create();
  });

  after(() => db.close());

  describeStore('pglite', { describe, it, open: () => openPgliteStore(db, `s${++schemas}`) });
});
