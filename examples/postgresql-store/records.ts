import { hash } from 'node:crypto';
import {
  type CustomFilterFields,
  customEqualities,
  type Entity,
  type Guard,
  type PageRequest,
  type Receipt,
  type RecordTransfer,
  type Repository,
  RostrumError,
  type Versioned,
  VersionedRecord,
} from 'rostrum/ports';
import { Conditions, type Filter } from './conditions.ts';
import type { Connections, Query, Row } from './connections.ts';

/** The part of a repository that users and posts have in common, and what their deletions need. */
export function recordsOf<R extends Entity, Sort extends string>(
  connections: Connections,
  name: 'users' | 'posts',
  sorts: readonly Sort[],
  sortKey: (record: R, by: Sort) => string | null,
  customFilters?: CustomFilterFields,
) {
  const { read } = connections;
  const table = `rostrum.${name}`;
  const fields = name === 'posts' ? ['authorId'] : [];
  const columns = ['id', 'version', 'json', ...sorts, ...fields].map((column) => `"${column}"`);
  const names = columns.join();
  const places = columns.map((_, i) => `$${i + 1}${i === 1 ? '::bigint' : ''}`).join();
  const newId = `insert into ${table}_ids values ($1) on conflict do nothing returning 1`;
  const insert = `with fresh as (${newId})
    insert into ${table} (${names}) select ${places} from fresh returning 1`;
  const upsert = `with fresh as (${newId}) insert into ${table} (${names}) values (${places})
    on conflict (id) do update set (${names}) = row(${places})`;

  const valuesOf = (record: R, version: number, json: string): unknown[] => {
    const keys = sorts.map((by) => sortKey(record, by));
    return [record.id, version, json, ...keys, ...fields.map((field) => record[field])];
  };

  async function find(query: Query, id: string, lock = ''): Promise<Versioned<R> | undefined> {
    const { where, values } = new Conditions().equal('id', id);
    const rows = await query(`select version, json from ${table} ${where} ${lock}`, values);
    return versioned<R>(rows)[0];
  }

  async function replace(query: Query, record: R, version: number): Promise<Versioned<R>> {
    const json = JSON.stringify(record);
    const sql = `update ${table} set (${names}) = row(${places}) where id = $1`;
    await query(sql, valuesOf(record, version, json));
    return new VersionedRecord<R>(json, version);
  }

  /** A page and a count by one statement. Of texts beyond the page it knows the lengths alone. */
  function page(
    query: Query,
    conditions: Conditions,
    limits: Pick<PageRequest<Filter, Sort>, 'limit' | 'bytes'>,
    { key = 'id', direction = 'asc', count = 'null' } = {},
  ): Promise<Row[]> {
    const [limit, bytes] = [conditions.bind(limits.limit), conditions.bind(limits.bytes)];
    const sql = `
      select total, version, json, place < found as more
      from (select ${count} as total) as counted
      left join (
        select *, row_number() over page as place, count(*) over () as found,
          sum(octet_length(json)) over page as size
        from (
          select ${key} as key, id, version, json from ${table} ${conditions.where}
          order by ${key} ${direction}, id ${direction} limit ${limit} + 1
        ) as following
        window page as (order by key ${direction}, id ${direction})
      ) as page on place = 1 or (place <= ${limit} and size <= ${bytes})
      order by place`;
    return query(sql, conditions.values);
  }

  /** @returns the JSON that an earlier creation made; undefined when this is the first one */
  async function claim(query: Query, receipt: Receipt, json: string): Promise<string | undefined> {
    const { until, from } = receipt;
    // They may be any texts, also one that PostgreSQL does not take: the digests are as different.
    const digest = (text: string) => hash('sha256', JSON.stringify(text));
    const [key, fingerprint] = [digest(receipt.key), digest(receipt.fingerprint)];
    const receipts = `${table}_receipts`;
    // It waits for another creation under the key to be committed or rolled back.
    const claimed = await query(
      `insert into ${receipts} as earlier values ($1, $2, $3, $4)
      on conflict (key) do update set (fingerprint, until, json) = row($2, $3, $4)
      where earlier.until <= $5 returning 1`,
      [key, fingerprint, until, json, from],
    );
    if (claimed.length > 0) {
      const expired = `select key from ${receipts} where until <= $1 limit 10 for update skip locked`;
      await query(`delete from ${receipts} where key in (${expired})`, [from]);
      return undefined;
    }
    const [earlier] = await query(`select * from ${receipts} where key = $1`, [key]);
    if (earlier?.fingerprint === fingerprint) return String(earlier?.json);
    throw new RostrumError('idempotency-key-reused', {});
  }

  const repository = {
    get: (id) => find(read, id),

    async isIdTaken(id) {
      const { where, values } = new Conditions().equal('id', id);
      return (await read(`select 1 from ${table}_ids ${where}`, values)).length > 0;
    },

    async list({ filter, order: { by, direction }, after, total, ...limits }) {
      const conditions = new Conditions().matching(filter);
      for (const { name: field, value } of customEqualities(filter.custom, customFilters)) {
        conditions.contains(field, value);
      }
      const count = total ? `(select count(*) from ${table} ${conditions.where})` : 'null';
      const key = ['email', 'publishedAt'].includes(by) ? `coalesce("${by}", '')` : `"${by}"`;
      if (after !== undefined) conditions.behind(key, after, direction);
      const rows = await page(read, conditions, limits, { key, direction, count });
      const items = versioned<R>(rows);
      const last = rows.at(-1)?.more === true ? items.at(-1)?.record : undefined;
      const next = last && { key: sortKey(last, by), id: last.id };
      return { items, next, total: total ? Number(rows[0]?.total) : undefined };
    },

    async create(record, receipt) {
      // Before the first wait: what was handed in is the caller's again.
      const [id, json] = [record.id, JSON.stringify(record)];
      const values = valuesOf(record, 1, json);
      const once = receipt && { ...receipt };
      return connections.change(async (query) => {
        const earlier = once && (await claim(query, once, json));
        if (earlier === undefined && (await query(insert, values)).length === 0) {
          throw new RostrumError('id-taken', { id });
        }
        const creation = new VersionedRecord<R>(earlier ?? json, 1);
        return Object.assign(creation, { replayed: earlier !== undefined });
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
        await query(`delete from ${table} where id = $1`, [id]);
        return true;
      }),

    async scan({ after, ...limits }) {
      const conditions = new Conditions();
      if (after !== undefined) conditions.behind('id', { key: after, id: after }, 'asc');
      return versioned<R>(await page(read, conditions, limits));
    },

    async load(records) {
      const rows = records.map(({ record, version, json }) => valuesOf(record, version, json));
      await connections.change(async (query) => {
        for (const values of rows) await query(upsert, values);
      });
    },
  } satisfies Repository<R, Filter, Sort> & RecordTransfer<R> & { delete: unknown };
  return { repository, find, page, replace };
}

export function versioned<R>(rows: readonly Row[]): Versioned<R>[] {
  const found = rows.filter(({ json }) => json !== null);
  return found.map((row) => new VersionedRecord<R>(String(row.json), Number(row.version)));
}
