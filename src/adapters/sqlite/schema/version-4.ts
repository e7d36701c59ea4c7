import { type Instant, instantFromMs, parseRfc3339 } from '../../../domain/instant.ts';
import type { Json, JsonObject } from '../../../domain/json.ts';
import { textKey } from '../../../domain/text.ts';
import type { Connection } from '../connection/connection.ts';
import { SqliteStoreError } from '../connection/errors.ts';
import { recordTables } from './schema.ts';

/** How many records a refusal names. */
const named = 3;

type EntityRow = [
  id: string,
  version: number,
  createdAt: string,
  updatedAt: string,
  name: string,
  record: string,
];
type Row = [...EntityRow, emailKeyOrAuthor: string | null];

/**
 * Refuses a file with posts that have a custom field `publishedAt` of another meaning. Only looks.
 */
export function checkPublishedAt(connection: Connection, file: string): void {
  const sql = `SELECT id, record FROM posts WHERE instr(record, '"publishedAt":') > 0`;
  const ids: string[] = [];
  let others = 0;
  for (const [id, record] of connection.iterate<[string, string]>(sql)) {
    const post = ownPublishedAt(record);
    if (post === undefined || instantOf(post.publishedAt) !== undefined) continue;
    if (ids.length < named) ids.push(JSON.stringify(id));
    else others += 1;
  }
  if (ids.length === 0) return;
  const all = [...ids, ...(others > 0 ? [`${others} more`] : [])].join(', ');
  throw new SqliteStoreError(
    'store-not-migrated',
    `The data file ${file} has posts whose custom field "publishedAt" is neither a date-time of RFC 3339 nor null (${all}): change them with the version that wrote the file.`,
  );
}

/**
 * Makes the records of versions 2 to 4 those of version 5, without its indexes. A post was published
 * when it was made, unless a custom field `publishedAt` says otherwise.
 *
 * @param step called for each record
 */
export function fromVersion4(connection: Connection, step: () => void): void {
  // Their space is that of the new rows.
  const indexes = "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL";
  const own = `${indexes} AND tbl_name IN ('users', 'posts')`;
  for (const [name] of connection.all<[string]>(own)) connection.exec(`DROP INDEX "${name}"`);
  // The foreign key of the old posts follows the old users to their new name.
  connection.exec('ALTER TABLE users RENAME TO users_4; ALTER TABLE posts RENAME TO posts_4');
  connection.exec(recordTables);
  const entity = 'SELECT id, version, created_at, updated_at';
  const users = `${entity}, name, record, email_key FROM users_4 ORDER BY rowid`;
  const insertUser = `INSERT INTO users
    (id, record_version, created_at, updated_at, email_key, name_key, name, record)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
  for (const row of connection.iterate<Row>(users)) {
    const [id, version, createdAt, updatedAt, name, record, emailKey] = row;
    const made = [id, version, createdAt, updatedAt] as const;
    connection.run(insertUser, ...made, emailKey, textKey(name), name, record);
    step();
  }
  const posts = `${entity}, title, record, author_id FROM posts_4 ORDER BY rowid`;
  const insertPost = `INSERT INTO posts
    (id, record_version, created_at, updated_at, published_at, author_id, title_key, title,
      record)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
  for (const row of connection.iterate<Row>(posts)) {
    const [id, version, createdAt, updatedAt, title, record, authorId] = row;
    const { publishedAt, json } = published(record, createdAt);
    const made = [id, version, createdAt, updatedAt] as const;
    connection.run(insertPost, ...made, publishedAt ?? '', authorId, textKey(title), title, json);
    step();
  }
  // The triggers of the old tables go with them, and so free the names of the new ones.
  connection.exec('DROP TABLE posts_4; DROP TABLE users_4');
  migrateReceipts(connection);
}

/** What was made under a receipt is a post like the others. */
function migrateReceipts(connection: Connection): void {
  const next = `SELECT rowid, record FROM claims NOT INDEXED
    WHERE rowid > ? AND kind = 'posts' ORDER BY rowid LIMIT 1`;
  let last = 0;
  for (;;) {
    const [rowid, record] = connection.get<[number, string]>(next, last) ?? [];
    if (rowid === undefined || record === undefined) return;
    const { json } = published(record, JSON.parse(record).createdAt);
    connection.run('UPDATE claims SET record = ? WHERE rowid = ?', json, rowid);
    last = rowid;
  }
}

/** The post as it is from version 5 on. */
function published(json: string, createdAt: Instant) {
  const post = ownPublishedAt(json);
  if (post === undefined) {
    const text = `${json.slice(0, -1)},"publishedAt":"${createdAt}"}`;
    return { publishedAt: createdAt, json: text };
  }
  // Anything else is in receipts alone, of posts that have it no more.
  const instant = instantOf(post.publishedAt);
  const publishedAt = instant === undefined ? createdAt : instant;
  return { publishedAt, json: JSON.stringify({ ...post, publishedAt }) };
}

/** A post that has a custom field `publishedAt`; few are read for it. */
function ownPublishedAt(json: string): JsonObject | undefined {
  if (!json.includes('"publishedAt":')) return undefined;
  const post: JsonObject = JSON.parse(json);
  return Object.hasOwn(post, 'publishedAt') ? post : undefined;
}

function instantOf(value: Json | undefined): Instant | null | undefined {
  if (value === null) return null;
  const instant = typeof value === 'string' ? parseRfc3339(value) : undefined;
  return instant && instantFromMs(instant.ms);
}
