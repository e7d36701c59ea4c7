import { messages, type PGlite, type Transaction } from '@electric-sql/pglite';
import {
  type Creation,
  cutPage,
  type Decide,
  type DeleteMode,
  type Entity,
  type EntityFilter,
  emailKey,
  emailTaken,
  type Guard,
  type Id,
  type Instant,
  type Page,
  type PageRequest,
  type Post,
  type PostFilter,
  type PostRepository,
  type PostSort,
  postSortKey,
  type Receipt,
  type RecordTransfer,
  type Repository,
  RostrumError,
  type ScanRequest,
  type Store,
  storeUnavailable,
  type User,
  type UserFilter,
  type UserRepository,
  type UserSort,
  unknownAuthor,
  userSortKey,
  type Version,
  type Versioned,
  VersionedRecord,
  withoutAuthor,
} from '../../src/ports/index.ts';

/** Makes the tables of a store, in a schema of their own. */
export async function createTables(db: PGlite, schema: string): Promise<void> {
  const text = 'text collate "C"';
  const common = `id ${text} primary key, version integer not null, json text not null,
    "createdAt" ${text} not null, "updatedAt" ${text} not null`;
  const receipts = `key ${text} primary key, fingerprint text, "until" text, json text`;
  await db.exec(`
    create schema ${schema};
    create table ${schema}.users (${common}, name ${text} not null,
      email ${text} constraint email_taken unique);
    create table ${schema}.posts (${common}, title ${text} not null,
      "authorId" ${text} constraint unknown_author references ${schema}.users);
    create index on ${schema}.posts ("authorId");
    create table ${schema}.user_ids (id ${text} primary key);
    create table ${schema}.post_ids (id ${text} primary key);
    create table ${schema}.user_receipts (${receipts});
    create table ${schema}.post_receipts (${receipts});
  `);
}

/** Opens a store on its tables. The database stays the caller's. */
export function openPgliteStore(db: PGlite, schema: string): Store {
  const database = new Database(db, schema);
  const users = new PgliteUsers(database, 'user', userSortKey);
  const posts = new PglitePosts(database, 'post', postSortKey);
  const close = () => database.close();
  return {
    users,
    posts,
    transfer: { users, posts },
    ready: () => database.run(async () => {}),
    close,
    [Symbol.asyncDispose]: close,
  };
}

type Value = string | number | null | readonly string[];
type Columns = Readonly<Record<string, Value | undefined>>;

interface Row {
  readonly version: Version;
  readonly json: string;
}

class Database {
  readonly schema: string;
  readonly #db: PGlite;
  readonly #running = new Set<Promise<unknown>>();
  #closed = false;

  constructor(db: PGlite, schema: string) {
    this.#db = db;
    this.schema = schema;
  }

  /** Runs a transaction. PostgreSQL rolls back what throws: so no error leaves anything behind. */
  async run<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    if (this.#closed) throw storeUnavailable('none');
    const running = this.#db.transaction(work);
    this.#running.add(running);
    try {
      return await running;
    } catch (error) {
      throw error instanceof messages.DatabaseError ? translated(error) : error;
    } finally {
      this.#running.delete(running);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#running);
  }
}

/** By the constraint that an error names, and not by its message. */
function translated(error: InstanceType<typeof messages.DatabaseError>): RostrumError {
  if (error.constraint === 'email_taken') return emailTaken();
  if (error.constraint === 'unknown_author') return unknownAuthor();
  return storeUnavailable('none', error);
}

/**
 * A text as PostgreSQL can hold it, in the same order: it has neither NUL, which is escaped, nor
 * half of a surrogate pair, which becomes what no record has, behind all other characters.
 */
function sqlText(text: string): string {
  const escaped = text.replaceAll('\u0001', '\u0001\u0002').replaceAll('\0', '\u0001\u0001');
  const beyond = (half: string) => `\u{10ffff}\u0001${half.charCodeAt(0)}`;
  return escaped.isWellFormed() ? escaped : escaped.replace(/\p{Surrogate}/gu, beyond);
}

/** Collects the values of a statement. */
class Parameters {
  readonly values: unknown[] = [];

  add(value: Value): string {
    const isText = typeof value === 'string';
    this.values.push(isText ? sqlText(value) : Array.isArray(value) ? value.map(sqlText) : value);
    return `$${this.values.length}`;
  }
}

abstract class PgliteRepository<R extends Entity, Filter extends EntityFilter, Sort extends string>
  implements Repository<R, Filter, Sort>, RecordTransfer<R>
{
  protected readonly database: Database;
  protected readonly table: string;
  readonly #receipts: string;
  /** The table of every id that was ever used. */
  readonly #ids: string;
  readonly #sortKey: (record: R, by: Sort) => string | null;

  constructor(database: Database, name: string, sortKey: (record: R, by: Sort) => string | null) {
    this.database = database;
    this.table = `${database.schema}.${name}s`;
    this.#receipts = `${database.schema}.${name}_receipts`;
    this.#ids = `${database.schema}.${name}_ids`;
    this.#sortKey = sortKey;
  }

  /** What a record is found and sorted by, or what a filter asks for. */
  protected abstract columns(fields: R | Filter): Columns;

  get(id: Id): Promise<Versioned<R> | undefined> {
    return this.database.run((tx) => this.locked(tx, id, ''));
  }

  create(given: R, receipt?: Receipt): Promise<Creation<R>> {
    // Taken now: what the caller does to it meanwhile is not stored.
    const record = structuredClone(given);
    return this.database.run(async (tx) => {
      const earlier = receipt && (await this.#earlierOf(tx, receipt));
      if (earlier !== undefined) return creation<R>(earlier, true);
      if (await this.#isIdTaken(tx, record.id)) {
        throw new RostrumError('id-taken', { id: record.id });
      }
      const { json } = await this.put(tx, record, 1);
      if (receipt !== undefined) {
        const { key, fingerprint, until } = receipt;
        await upsert(tx, this.#receipts, 'key', { key, fingerprint, until, json });
      }
      return creation<R>(json, false);
    });
  }

  isIdTaken(id: Id): Promise<boolean> {
    return this.database.run((tx) => this.#isIdTaken(tx, id));
  }

  update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined> {
    return this.database.run(async (tx) => {
      const current = await this.locked(tx, id);
      if (current === undefined) return undefined;
      const record = decide(current);
      // The record that it was shown may have been changed; its text was not.
      if (record === current.record) return new VersionedRecord<R>(current.json, current.version);
      return this.put(tx, record, current.version + 1);
    });
  }

  list(request: PageRequest<Filter, Sort>): Promise<Page<R>> {
    const { filter, order, after } = request;
    const parameters = new Parameters();
    const add = (value: Value) => parameters.add(value);
    const column = `"${order.by}"`;
    const found: string[] = ['true'];
    if (filter.ids !== undefined) found.push(`id = any(${add(filter.ids)})`);
    for (const name of ['createdAt', 'updatedAt'] as const) {
      const { from, before } = filter[name] ?? {};
      if (from !== undefined) found.push(`"${name}" >= ${add(from)}`);
      if (before !== undefined) found.push(`"${name}" < ${add(before)}`);
    }
    for (const [name, value] of Object.entries(filter.custom ?? {})) {
      // JSON keeps the text of a value, and JavaScript writes each value in one way.
      found.push(`(json::json -> ${add(name)}::text)::text = ${add(JSON.stringify(value))}`);
    }
    for (const [name, value] of Object.entries(this.columns(filter))) {
      if (value !== undefined) found.push(`"${name}" is not distinct from ${add(value)}`);
    }
    const [sign, nulls] = order.direction === 'asc' ? ['>', 'first'] : ['<', 'last'];
    const behind: string[] = [];
    const counted = [...parameters.values];
    if (after !== undefined) {
      const sameKey = `${column} is not distinct from ${add(after.key)}`;
      behind.push(`${sameKey} and id ${sign} ${add(after.id)}`);
      if (after.key !== null) behind.push(`${column} ${sign} ${add(after.key)}`);
      // A missing key comes before all others.
      if (after.key !== null && sign === '<') behind.push(`${column} is null`);
      if (after.key === null && sign === '>') behind.push(`${column} is not null`);
    }
    return this.database.run(async (tx) => {
      // Of one snapshot, like all that a transaction reads.
      await tx.exec('set transaction isolation level repeatable read');
      const where = found.join(' and ');
      const page = behind.length > 0 ? `${where} and ((${behind.join(') or (')}))` : where;
      const orderBy = `${column} ${order.direction} nulls ${nulls}, id ${order.direction}`;
      const rows = await this.read(tx, page, orderBy, parameters, request);
      const position = ({ record }: Versioned<R>) => {
        return { key: this.#sortKey(record, order.by), id: record.id };
      };
      const count = `select count(*)::integer as total from ${this.table} where ${where}`;
      const total = request.total && (await tx.query<{ total: number }>(count, counted)).rows[0];
      return { ...cutPage(rows, request, position), ...total };
    });
  }

  scan({ limit, bytes, after }: ScanRequest): Promise<readonly Versioned<R>[]> {
    const parameters = new Parameters();
    const where = after === undefined ? 'true' : `id > ${parameters.add(after)}`;
    return this.database.run(async (tx) => {
      const rows = await this.read(tx, where, 'id', parameters, { limit, bytes });
      return cutPage(rows, { limit, bytes }, () => ({ key: null, id: '' })).items;
    });
  }

  load(records: readonly Versioned<R>[]): Promise<void> {
    return this.database.run(async (tx) => {
      for (const { record, version } of records) await this.put(tx, record, version);
    });
  }

  /** The record with this id, which nobody else changes or deletes until the transaction ends. */
  protected async locked(tx: Transaction, id: Id, lock = 'for update') {
    const select = `select version, json from ${this.table} where id = $1 ${lock}`;
    const [row] = (await tx.query<Row>(select, [sqlText(id)])).rows;
    return row && new VersionedRecord<R>(row.json, row.version);
  }

  protected remove(
    id: Id,
    guard?: Guard<R>,
    before: (tx: Transaction) => Promise<void> = async () => {},
  ): Promise<boolean> {
    return this.database.run(async (tx) => {
      const current = await this.locked(tx, id);
      if (current === undefined) return false;
      guard?.(current);
      await before(tx);
      await tx.query(`delete from ${this.table} where id = $1`, [sqlText(id)]);
      return true;
    });
  }

  protected async put(tx: Transaction, record: R, version: Version): Promise<Versioned<R>> {
    const { id, createdAt, updatedAt } = record;
    const json = JSON.stringify(record);
    const columns = { id, version, json, createdAt, updatedAt, ...this.columns(record) };
    await upsert(tx, this.table, 'id', columns);
    await upsert(tx, this.#ids, 'id', { id });
    return new VersionedRecord<R>(json, version);
  }

  /** The first rows of an order that fill a page, and one more: larger ones stay in the database. */
  protected async read(
    tx: Transaction,
    where: string,
    orderBy: string,
    parameters: Parameters,
    { limit, bytes }: { readonly limit: number; readonly bytes: number },
  ): Promise<VersionedRecord<R>[]> {
    const first = `select * from ${this.table} where ${where} order by ${orderBy}
      limit ${parameters.add(limit + 1)}`;
    const sized = `select version, json, row_number() over (order by ${orderBy}) as n,
      sum(octet_length(json)) over (order by ${orderBy}) - octet_length(json) as before
      from (${first}) as page`;
    const select = `select version, json from (${sized}) as sized
      where n <= 2 or before <= ${parameters.add(bytes)} order by n`;
    const { rows } = await tx.query<Row>(select, parameters.values);
    return rows.map(({ json, version }) => new VersionedRecord<R>(json, version));
  }

  async #isIdTaken(tx: Transaction, id: Id): Promise<boolean> {
    const select = `select 1 from ${this.#ids} where id = $1`;
    return (await tx.query(select, [sqlText(id)])).rows.length > 0;
  }

  /** What was made under a receipt, which nobody else makes until the transaction ends. */
  async #earlierOf(tx: Transaction, { key, fingerprint, from }: Receipt) {
    await tx.query('select pg_advisory_xact_lock(hashtext($1))', [
      sqlText(`${this.#receipts} ${key}`),
    ]);
    const select = `select json, fingerprint from ${this.#receipts} where key = $1 and "until" > $2`;
    const { rows } = await tx.query<Row & { fingerprint: string }>(select, [sqlText(key), from]);
    const [earlier] = rows;
    if (earlier !== undefined && earlier.fingerprint !== sqlText(fingerprint)) {
      throw new RostrumError('idempotency-key-reused', {});
    }
    return earlier?.json;
  }
}

async function upsert(tx: Transaction, table: string, key: string, row: Columns): Promise<void> {
  const parameters = new Parameters();
  const names = Object.keys(row).map((name) => `"${name}"`);
  const values = Object.values(row).map((value = null) => parameters.add(value));
  const set = names.map((name) => `${name} = excluded.${name}`);
  const insert = `insert into ${table} (${names}) values (${values})`;
  await tx.query(`${insert} on conflict (${key}) do update set ${set}`, parameters.values);
}

function creation<R>(json: string, replayed: boolean): Creation<R> {
  return Object.assign(new VersionedRecord<R>(json, 1), { replayed });
}

class PgliteUsers extends PgliteRepository<User, UserFilter, UserSort> implements UserRepository {
  delete(id: Id, mode: DeleteMode, at: Instant, guard?: Guard<User>): Promise<boolean> {
    const posts = new PglitePosts(this.database, 'post', postSortKey);
    return this.remove(id, guard, (tx) => posts.leave(tx, id, mode, at));
  }

  protected override columns({ name, email }: User | UserFilter) {
    return { name, email: email && emailKey(email) };
  }
}

class PglitePosts extends PgliteRepository<Post, PostFilter, PostSort> implements PostRepository {
  delete(id: Id, guard?: Guard<Post>): Promise<boolean> {
    return this.remove(id, guard);
  }

  /** What becomes of the posts of a user who is locked, and about to be deleted. */
  async leave(tx: Transaction, authorId: Id, mode: DeleteMode, at: Instant): Promise<void> {
    const theirs = `${this.table} where "authorId" = $1`;
    if (mode === 'delete') await tx.query(`delete from ${theirs}`, [sqlText(authorId)]);
    const count = `select count(*)::integer as posts from ${theirs}`;
    const { rows } = await tx.query<{ posts: number }>(count, [sqlText(authorId)]);
    let { posts: left } = rows[0] ?? { posts: 0 };
    if (mode === 'refuse' && left > 0) throw new RostrumError('user-has-posts', { posts: left });
    while (left > 0) {
      const parameters = new Parameters();
      const where = `"authorId" = ${parameters.add(authorId)}`;
      const part = { limit: 100, bytes: 2 ** 20 };
      for (const post of await this.read(tx, where, 'id', parameters, part)) {
        await this.put(tx, withoutAuthor(post.record, at), post.version + 1);
        left--;
      }
    }
  }

  protected override columns({ title, authorId }: Post | PostFilter) {
    return { title, authorId };
  }
}
