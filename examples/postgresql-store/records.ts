import {
  type Collection,
  declaredValue,
  type Guard,
  isRostrumError,
  type ListQuery,
  type Post,
  type QueryOrder,
  type Receipt,
  type RecordTransfer,
  type Repository,
  RostrumError,
  type SortKey,
  searchFields,
  searchRow,
  type User,
  type Versioned,
  VersionedRecord,
} from 'rostrum/ports';
import { Conditions } from './conditions.ts';
import type { Connections, Query, Row } from './connections.ts';
import { sortKeys } from './schema.ts';

/** The part of a repository that users and posts have in common, and what deletions of users need. */
export function recordsOf<R extends User | Post>(connections: Connections, name: Collection) {
  const { read } = connections;
  const table = `rostrum.${name}`;
  const fields = Object.keys(searchFields[name]);
  const columns = ['json', ...fields].map((field) => `"${field}"`);
  const names = columns.join();
  const places = columns.map((_, n) => `$${n + 3}`).join();
  const insert = `insert into ${table} as stored (id, version, ${names})
    values ($1, $2::bigint, ${places}) on conflict (id) do update
    set (${names}) = row(${columns.map((column) => `excluded.${column}`)}), version =`;
  /** The row of a deleted record stays, with its last version. */
  const create = `${insert} stored.version + 1 where stored.json is null returning version`;
  const load = `${insert} case
    when excluded.version > stored.version then excluded.version
    when excluded.version = stored.version and stored.json is not null then stored.version
    else stored.version + 1 end`;
  const erase = `update ${table} set (${names}) = row(${columns.map(() => 'null')})`;

  const valuesOf = (record: R, version: number, json: string): unknown[] => {
    const row = searchRow(name, record);
    return [record.id, version, json, ...fields.map((field) => row[field])];
  };

  async function find(query: Query, id: string, lock = ''): Promise<Versioned<R> | undefined> {
    const sql = `select version, json from ${table} where id = $1 and json is not null ${lock}`;
    return versioned<R>(await query(sql, [id]))[0];
  }

  async function replace(query: Query, record: R, version: number): Promise<Versioned<R>> {
    const json = JSON.stringify(record);
    const sql = `update ${table} set version = $2::bigint, (${names}) = row(${places}) where id = $1`;
    await query(sql, valuesOf(record, version, json));
    return new VersionedRecord<R>(json, version);
  }

  function keyOf(record: R, { field, declaredType }: QueryOrder): SortKey {
    if (declaredType === undefined) return searchRow(name, record)[field] ?? null;
    return declaredValue(record, field);
  }

  /** Reads a page and a total with one statement. Of records beyond the page it reads only lengths. */
  function page(
    query: Query,
    conditions: Conditions,
    { limit, bytes }: Pick<ListQuery, 'limit' | 'bytes'>,
    order: QueryOrder = { field: 'id', direction: 'asc' },
    total = 'null',
  ): Promise<Row[]> {
    const [most, size] = [conditions.bind(limit), conditions.bind(bytes)];
    const keys = [...sortKeys(order), 'id'].map((key) => `${key} ${order.direction}`).join(', ');
    const sql = `
      select total, version, json, place < found as more
      from (select ${total} as total) as counted
      left join (
        select *, count(*) over () as found, sum(octet_length(json)) over (order by place) as size
        from (
          select version, json, row_number() over (order by ${keys}) as place
          from ${table} ${conditions.where} order by ${keys} limit ${most} + 1
        ) as following
      ) as page on place = 1 or (place <= ${most} and size <= ${size})
      order by place`;
    return query(sql, conditions.values);
  }

  /** Returns what an earlier creation under the receipt stored; undefined for the first one. */
  async function claim(
    query: Query,
    { key, fingerprint, from, until }: Receipt,
    json: string,
  ): Promise<VersionedRecord<R> | undefined> {
    const receipts = `${table}_receipts`;
    // Waits until another creation under the key is committed or rolled back.
    const claimed = await query(
      `insert into ${receipts} as earlier values ($1, $2, $3, $4)
      on conflict (key) do update set (fingerprint, until, json, version) = row($2, $3, $4, 1)
      where earlier.until <= $5 returning 1`,
      [key, fingerprint, until, json, from],
    );
    if (claimed.length > 0) {
      const expired = `select key from ${receipts} where until <= $1 limit 10 for update skip locked`;
      await query(`delete from ${receipts} where key in (${expired})`, [from]);
      return undefined;
    }
    const [earlier] = await query(`select * from ${receipts} where key = $1`, [key]);
    if (earlier?.fingerprint !== fingerprint) throw new RostrumError('idempotency-key-reused', {});
    return versioned<R>([earlier])[0];
  }

  const repository = {
    get: (id) => find(read, id),

    async lastVersion(id) {
      const [row] = await read(`select version from ${table} where id = $1`, [id]);
      return row && Number(row.version);
    },

    async list({ conditions, order, after, total, ...limits }) {
      const matching = new Conditions().add(...conditions);
      const count = total ? `(select count(*) from ${table} ${matching.where})` : 'null';
      if (after !== undefined) matching.after(order, after);
      const rows = await page(read, matching, limits, order, count);
      const items = versioned<R>(rows);
      const last = rows.at(-1)?.more === true ? items.at(-1)?.record : undefined;
      const next = last && { key: keyOf(last, order), id: last.id };
      return { items, next, total: total ? Number(rows[0]?.total) : undefined };
    },

    async create(record, receipt) {
      // Before the first wait, because the caller may reuse its arguments.
      const [id, json] = [record.id, JSON.stringify(record)];
      const values = valuesOf(record, 1, json);
      const given = receipt && { ...receipt };
      const creation = connections.change(async (query) => {
        const earlier = given && (await claim(query, given, json));
        if (earlier) return Object.assign(earlier, { replayed: true });
        const [created] = await query(create, values);
        if (created === undefined) throw new RostrumError('id-taken', { id });
        const version = Number(created.version);
        if (given && version > 1) {
          const sql = `update ${table}_receipts set version = $2 where key = $1`;
          await query(sql, [given.key, version]);
        }
        return Object.assign(new VersionedRecord<R>(json, version), { replayed: false });
      });
      return creation.catch(async (error) => {
        // Of two creations with one id, a unique value of the other one can be met before its id.
        const isRace = isRostrumError(error, 'field-taken') && (await find(read, id));
        throw isRace ? new RostrumError('id-taken', { id }) : error;
      });
    },

    update: (id, decide) =>
      connections.change(async (query) => {
        const current = await find(query, id, 'for update');
        if (current === undefined) return undefined;
        const record = decide(current);
        if (record === current.record) return new VersionedRecord<R>(current.json, current.version);
        return replace(query, record, current.version + 1);
      }),

    delete: (id: string, guard?: Guard<R>) =>
      connections.change(async (query) => {
        const current = await find(query, id, 'for update');
        if (current === undefined) return false;
        guard?.(current);
        await query(`${erase} where id = $1`, [id]);
        return true;
      }),

    async scan({ after, ...limits }) {
      const conditions = new Conditions();
      if (after !== undefined) conditions.afterId(after);
      return versioned<R>(await page(read, conditions, limits));
    },

    async load(records) {
      const rows = records.map(({ record, version, json }) => valuesOf(record, version, json));
      await connections.change(async (query) => {
        for (const values of rows) await query(load, values);
      });
    },

    deleted: {
      async scan(limit, after = '') {
        const sql = `select id, version from ${table} where json is null and id > $1
          order by id limit $2`;
        const rows = await read(sql, [after, limit]);
        return rows.map((row) => ({ id: String(row.id), lastVersion: Number(row.version) }));
      },

      async load(ids) {
        const rows = ids.map(({ id, lastVersion }) => [id, lastVersion]);
        const sql = `insert into ${table} as stored (id, version) values ($1, $2)
          on conflict (id) do update set version = greatest(stored.version, $2)
          where stored.json is null`;
        await connections.change(async (query) => {
          for (const values of rows) await query(sql, values);
        });
      },
    },
  } satisfies Repository<R> & RecordTransfer<R> & { delete: unknown };
  return { repository, find, page, replace, erase };
}

export function versioned<R>(rows: readonly Row[]): VersionedRecord<R>[] {
  const found = rows.filter(({ json }) => json !== null);
  return found.map((row) => new VersionedRecord<R>(String(row.json), Number(row.version)));
}
