import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type Note, noteDefaults } from '../../domain/note.ts';
import { type Owner, ownerDefaults } from '../../domain/owner.ts';
import type { Versioned } from '../../domain/version.ts';
import type { Repositories, Repository, Store } from '../../ports/store.ts';

/** Every database runs each of these once, in order. Add new ones at the end; never edit an old one. */
const migrations = [
  `CREATE TABLE owners (record TEXT NOT NULL) STRICT;
   CREATE UNIQUE INDEX ownersById ON owners (record ->> 'id');`,
  `CREATE TABLE notes (record TEXT NOT NULL) STRICT;
   CREATE UNIQUE INDEX notesById ON notes (record ->> 'id');
   CREATE INDEX notesByOwner ON notes (record ->> 'ownerId', record ->> 'id');`,
];

const openRepositories = (database: DatabaseSync): Repositories => ({
  owners: openRepository<Owner>(database, 'owners', ownerDefaults),
  notes: openRepository<Note>(database, 'notes', noteDefaults),
});

/** Opens a database file, and creates it if necessary. */
export async function openSqliteStore(path: string): Promise<Store> {
  // Wait up to 5 s for the transactions of other processes.
  const writer = new DatabaseSync(path, { timeout: 5000 });
  writer.exec('PRAGMA journal_mode = WAL');
  await runTransaction(writer, async () => {
    const version = Number(writer.prepare('PRAGMA user_version').get()?.user_version);
    if (version > migrations.length) throw new Error(`${path} was written by a newer version.`);
    for (const migration of migrations.slice(version)) writer.exec(migration);
    writer.exec(`PRAGMA user_version = ${migrations.length}`);
  });
  const repositories = openRepositories(writer);
  // A second connection sees only what is committed.
  const reader = new DatabaseSync(path);
  let last: Promise<unknown> = Promise.resolve();

  return {
    ...openRepositories(reader),
    /** Runs one transaction after the other, because they share a connection. */
    transaction(work) {
      const result = last.then(() => runTransaction(writer, () => work(repositories)));
      last = result.catch(() => {});
      return result;
    },
    async close() {
      reader.close();
      writer.close();
    },
  };
}

async function runTransaction<T>(database: DatabaseSync, work: () => Promise<T>): Promise<T> {
  // IMMEDIATE locks out other processes before the first read, so nothing read changes until COMMIT.
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = await work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // After some errors, such as a full disk, SQLite has already rolled back.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** Keeps records as JSON. Those from before a field was added get its default. */
function openRepository<R extends Versioned>(
  database: DatabaseSync,
  table: string,
  defaults: Partial<R>,
): Repository<R> {
  const upsert = database.prepare(
    `INSERT INTO ${table} VALUES (?)
     ON CONFLICT (record ->> 'id') DO UPDATE SET record = excluded.record`,
  );
  const page = "AND record ->> 'id' > ? ORDER BY record ->> 'id' LIMIT ?";
  const toSql = (value: SQLInputValue | boolean) => (typeof value === 'boolean' ? +value : value);

  /** Runs a command on the records that a filter selects. Names of fields are safe in SQL. */
  function run(command: string, filter: object, end = '', ...values: SQLInputValue[]): R[] {
    const conditions = Object.keys(filter).map((name) => `AND record ->> '${name}' = ?`);
    const sql = `${command} FROM ${table} WHERE TRUE ${conditions.join(' ')} ${end}`;
    const rows = database.prepare(sql).all(...Object.values(filter).map(toSql), ...values);
    const records = rows.map(({ record }) => JSON.parse(String(record)));
    return records.map((record) => ({ ...record, ...defaults, ...record }));
  }

  return {
    find: async (id) => run('SELECT record', { id })[0],
    list: async (filter, { after = '', limit }) => run('SELECT record', filter, page, after, limit),
    save: async (record) => void upsert.run(JSON.stringify(record)),
    delete: async (filter) => void run('DELETE', filter),
  };
}
