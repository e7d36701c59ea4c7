import { type Instant, instantFromMs } from '../../../domain/instant.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Connection, SqlValue } from '../connection/connection.ts';
import {
  applicationId,
  deletedTable,
  receiptTable,
  recordIndexes,
  recordTables,
  schemaVersion,
} from './schema.ts';

/** How often a long migration says how far it is. */
const reportMs = 2000;

/**
 * Brings a file of an earlier version, or an empty one, to the present schema, in the transaction
 * that is open: a process that is killed meanwhile leaves the file as it was, and the next one
 * begins anew. So the disk needs room for a second copy of the records.
 */
export function migrate(connection: Connection, version: number, logger?: Logger): void {
  if (version === schemaVersion) return;
  if (version === 0) connection.exec(recordTables + receiptTable);
  if (version === 1) migrateVersion1(connection, logger);
  // Versions 2 and 3, which no release had, lack this alone; some indexes of version 2 are slower.
  connection.exec(deletedTable + recordIndexes);
  connection.exec(`PRAGMA application_id = ${applicationId}`);
  connection.exec(`PRAGMA user_version = ${schemaVersion}`);
}

/** A row of version 1: a JSON object of the custom fields, and a column for each other field. */
type EntityRow1 = [id: string, version: number, createdAt: number, updatedAt: number, own: string];
type UserRow1 = [...EntityRow1, name: string, email: string | null, emailKey: string | null];
type PostRow1 = [...EntityRow1, title: string, body: string, authorId: string | null];

function migrateVersion1(connection: Connection, logger: Logger | undefined): void {
  const count = 'SELECT (SELECT count(*) FROM users) + (SELECT count(*) FROM posts)';
  const records = connection.get<[number]>(count)?.[0];
  logger?.info({ records }, 'The data file is of version 1: its records are being migrated.');
  let [migrated, reported] = [0, performance.now()];
  const insert = (table: 'users' | 'posts', columns: string, ...values: SqlValue[]) => {
    const names = `id, version, created_at, updated_at, ${columns}, record`;
    connection.run(`INSERT INTO ${table} (${names}) VALUES (?, ?, ?, ?, ?, ?, ?)`, ...values);
    migrated += 1;
    if (performance.now() - reported < reportMs) return;
    reported = performance.now();
    logger?.info({ migrated, records }, 'The data file is being migrated.');
  };

  // The foreign key of the old posts follows the old users to their new name.
  connection.exec('ALTER TABLE users RENAME TO users_1; ALTER TABLE posts RENAME TO posts_1');
  connection.exec(recordTables);
  const users = 'SELECT id, version, created_at, updated_at, own, name, email, email_key';
  for (const row of connection.iterate<UserRow1>(`${users} FROM users_1`)) {
    const [id, version, createdAt, updatedAt, own, name, email, emailKey] = row;
    const times = [instantFromMs(createdAt), instantFromMs(updatedAt)] as const;
    const record = recordText({ id, name, email }, own, ...times);
    insert('users', 'name, email_key', id, version, ...times, name, emailKey, record);
  }
  const posts = 'SELECT id, version, created_at, updated_at, own, title, body, author_id';
  for (const row of connection.iterate<PostRow1>(`${posts} FROM posts_1`)) {
    const [id, version, createdAt, updatedAt, own, title, body, authorId] = row;
    const times = [instantFromMs(createdAt), instantFromMs(updatedAt)] as const;
    const record = recordText({ id, title, body, authorId }, own, ...times);
    insert('posts', 'author_id, title', id, version, ...times, authorId, title, record);
  }
  // The indexes of the old tables go with them, and so free the names of the new ones.
  connection.exec('DROP TABLE posts_1; DROP TABLE users_1');
  logger?.info({ records }, 'The records are migrated.');
}

/** Custom fields go over as the text that they are, so that nothing becomes of a number or a null. */
function recordText(fields: object, own: string, createdAt: Instant, updatedAt: Instant): string {
  const start = JSON.stringify(fields).slice(0, -1);
  const middle = own === '{}' ? '' : `,${own.slice(1, -1)}`;
  return `${start}${middle},${JSON.stringify({ createdAt, updatedAt }).slice(1)}`;
}
