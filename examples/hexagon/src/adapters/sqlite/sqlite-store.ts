import { DatabaseSync } from 'node:sqlite';
import { type ErrorCode, found } from '../../domain/errors.ts';
import type { Note } from '../../domain/note.ts';
import type { Owner } from '../../domain/owner.ts';
import type { Store } from '../../ports/store.ts';

/** Every database runs each of these once, in order. Add new ones at the end; never edit an old one. */
const migrations = [
  `CREATE TABLE owners (id TEXT PRIMARY KEY, name TEXT NOT NULL, quota INTEGER NOT NULL) STRICT;
   CREATE TABLE notes (
     id TEXT PRIMARY KEY, version INTEGER NOT NULL, ownerId TEXT NOT NULL REFERENCES owners (id),
     title TEXT NOT NULL, text TEXT NOT NULL, pinned INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX notesByOwner ON notes (ownerId, id);`,
];
const noteColumns = ['id', 'version', 'ownerId', 'title', 'text', 'pinned'];

// SQLite has no booleans.
const toRow = (note: Note) => ({ ...note, pinned: Number(note.pinned) });
const toNote = (row: Record<string, unknown>) => ({ ...row, pinned: row.pinned === 1 }) as Note;

/** Opens a database file, and creates it if necessary. `:memory:` is a database in memory. */
export function openSqliteStore(path: string): Store {
  // Wait up to 5 s for the transactions of other processes.
  const database = new DatabaseSync(path, { timeout: 5000 });
  database.exec('PRAGMA journal_mode = WAL');

  /** IMMEDIATE locks out other writers before the first read, so nothing read changes until COMMIT. */
  function transaction<T>(work: () => T): T {
    database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      database.exec('COMMIT');
      return result;
    } catch (error) {
      // After some errors, such as a full disk, SQLite has already rolled back.
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }

  transaction(() => {
    const version = Number(database.prepare('PRAGMA user_version').get()?.user_version);
    for (const migration of migrations.slice(version)) database.exec(migration);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
  });

  const selectNote = database.prepare('SELECT * FROM notes WHERE id = ?');
  const writeNote = database.prepare(
    `INSERT INTO notes (${noteColumns.join()}) VALUES (:${noteColumns.join(', :')}) ON CONFLICT (id)
     DO UPDATE SET ${noteColumns.map((name) => `${name} = excluded.${name}`).join()}`,
  );
  const deleteNote = database.prepare('DELETE FROM notes WHERE id = ?');
  const selectOwner = database.prepare(
    `SELECT *, (SELECT count(*) FROM notes WHERE ownerId = owners.id) AS noteCount
     FROM owners WHERE id = ?`,
  );
  const insertOwner = database.prepare('INSERT INTO owners (id, name, quota) VALUES (?, ?, ?)');

  const findNote = (id: string) => toNote(found(selectNote.get(id), 'note-not-found'));
  const findOwner = (id: string, code: ErrorCode) =>
    ({ ...found(selectOwner.get(id), code) }) as unknown as Owner;

  function write(decide: () => Note): Note {
    return transaction(() => {
      const note = decide();
      writeNote.run(toRow(note));
      return note;
    });
  }

  return {
    notes: {
      get: async (id) => findNote(id),
      async list({ ownerId, after = '', limit }) {
        const owned = ownerId === undefined ? '' : 'ownerId = :ownerId AND';
        const list = `SELECT * FROM notes WHERE ${owned} id > :after ORDER BY id LIMIT :limit`;
        const values = ownerId === undefined ? { after, limit } : { ownerId, after, limit };
        return database.prepare(list).all(values).map(toNote);
      },
      create: async (ownerId, decide) => write(() => decide(findOwner(ownerId, 'unknown-owner'))),
      update: async (id, decide) => write(() => decide(findNote(id))),
      move: async (id, ownerId, decide) =>
        write(() => decide(findNote(id), findOwner(ownerId, 'unknown-owner'))),
      delete: async (id, check) =>
        transaction(() => {
          check(findNote(id));
          deleteNote.run(id);
        }),
    },
    owners: {
      get: async (id) => findOwner(id, 'owner-not-found'),
      create: async ({ id, name, quota }) => void insertOwner.run(id, name, quota),
    },
    close: async () => database.close(),
  };
}
