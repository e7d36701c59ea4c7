import { createHash } from 'node:crypto';
import {
  type Creation,
  type CustomFilterFields,
  customEqualities,
  type Decide,
  type Entity,
  type EntityFilter,
  type Id,
  type Page,
  type PageRequest,
  type Receipt,
  type RecordTransfer,
  type Repository,
  RostrumError,
  type ScanRequest,
  type Versioned,
  VersionedRecord,
} from 'rostrum/ports';
import { Conditions } from './conditions.ts';
import type { Connections, Query, Row } from './connections.ts';

/** How many receipts that have expired a creation removes besides. */
const swept = 10;

/** What users and posts have in common. */
export abstract class PostgresqlRepository<
  R extends Entity,
  Filter extends EntityFilter,
  Sort extends string,
> implements Repository<R, Filter, Sort>, RecordTransfer<R>
{
  protected readonly connections: Connections;
  readonly #table: string;
  readonly #customFilters: CustomFilterFields | undefined;

  constructor(connections: Connections, table: string, customFilters?: CustomFilterFields) {
    this.connections = connections;
    this.#table = `rostrum.${table}`;
    this.#customFilters = customFilters;
  }

  /** The columns that a record has beside its id, its version and its JSON. */
  protected abstract columns(record: R): Readonly<Record<string, string | null>>;
  protected abstract sortKey(record: R, by: Sort): string | null;
  /** The sort key in SQL, where null is the empty text. */
  protected abstract sortColumn(by: Sort): string;
  protected abstract restrict(conditions: Conditions, filter: Filter): void;

  async get(id: Id): Promise<Versioned<R> | undefined> {
    const { where, values } = new Conditions().equal('id', id);
    const sql = `select version, json from ${this.#table} ${where}`;
    return versioned((await this.connections.read(sql, values))[0]);
  }

  async isIdTaken(id: Id): Promise<boolean> {
    const { where, values } = new Conditions().equal('id', id);
    const rows = await this.connections.read(`select 1 from ${this.#table}_ids ${where}`, values);
    return rows.length > 0;
  }

  async list(request: PageRequest<Filter, Sort>): Promise<Page<R>> {
    const { filter, order, after } = request;
    const conditions = new Conditions()
      .within('"createdAt"', filter.createdAt)
      .within('"updatedAt"', filter.updatedAt);
    if (filter.ids !== undefined) conditions.among('id', filter.ids);
    for (const { name, value } of customEqualities(filter.custom, this.#customFilters)) {
      conditions.contains(name, value);
    }
    this.restrict(conditions, filter);
    const key = this.sortColumn(order.by);
    const count = `(select count(*) from ${this.#table} ${conditions.where})`;
    const total = request.total ? count : 'null';
    if (after !== undefined) conditions.behind(key, after, order.direction);
    const page = await this.#page(conditions, request, key, order.direction, total);
    const last = page.items.at(-1)?.record;
    const next = last && page.hasMore && { key: this.sortKey(last, order.by), id: last.id };
    return { items: page.items, next: next || undefined, total: page.total };
  }

  async scan({ after, ...limits }: ScanRequest): Promise<readonly Versioned<R>[]> {
    const conditions = new Conditions();
    if (after !== undefined) conditions.behind('id', { key: after, id: after }, 'asc');
    return (await this.#page(conditions, limits, 'id', 'asc', 'null')).items;
  }

  async create(record: R, receipt?: Receipt): Promise<Creation<R>> {
    // Taken before the first wait: what was handed in is the caller's again.
    const row = this.#row(record, 1);
    const { json } = row;
    const claim = receipt && claimOf(receipt, json);
    return this.connections.change(async (query) => {
      const earlier = claim && (await this.#claim(query, claim));
      if (earlier !== undefined) return creation(earlier, true);
      const inserted = await query(
        `with new_id as (insert into ${this.#table}_ids values ($1) on conflict do nothing returning 1)
        insert into ${this.#table} (${row.names}) select ${row.places} from new_id returning 1`,
        row.values,
      );
      if (inserted.length === 0) throw new RostrumError('id-taken', { id: record.id });
      return creation(json, false);
    });
  }

  async update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined> {
    return this.connections.change(async (query) => {
      const current = await this.lock(query, id);
      if (current === undefined) return undefined;
      const record = decide(current);
      const { json, version } = current;
      if (record === current.record) return new VersionedRecord<R>(json, version);
      return this.replace(query, record, version + 1);
    });
  }

  async load(records: readonly Versioned<R>[]): Promise<void> {
    const rows = records.map(({ record, version }) => this.#row(record, version));
    await this.connections.change(async (query) => {
      for (const { names, places, values } of rows) {
        await query(
          `with new_id as (insert into ${this.#table}_ids values ($1) on conflict do nothing)
          insert into ${this.#table} (${names}) values (${places})
          on conflict (id) do update set (${names}) = (select excluded.*)`,
          values,
        );
      }
    });
  }

  /** Reads a record that nobody else changes or deletes until the transaction ends. */
  protected async lock(query: Query, id: Id): Promise<Versioned<R> | undefined> {
    const { where, values } = new Conditions().equal('id', id);
    const sql = `select version, json from ${this.#table} ${where} for update`;
    return versioned((await query(sql, values))[0]);
  }

  protected async replace(query: Query, record: R, version: number): Promise<Versioned<R>> {
    const { names, places, values, json } = this.#row(record, version);
    const sql = `update ${this.#table} set (${names}) = row(${places}) where id = $1`;
    await query(sql, values);
    return new VersionedRecord<R>(json, version);
  }

  protected async remove(query: Query, id: Id): Promise<void> {
    await query(`delete from ${this.#table} where id = $1`, [id]);
  }

  /**
   * Reads a page, and the count of all, in one statement. Sizes are known without reading the texts,
   * and only the texts of the page leave the server.
   */
  async #page(
    conditions: Conditions,
    { limit, bytes }: { readonly limit: number; readonly bytes: number },
    key: string,
    direction: 'asc' | 'desc',
    count: string,
  ) {
    const order = `order by key ${direction}, id ${direction}`;
    const sql = `
      select total, version, json, found > place as more
      from (select ${count} as total) counted
      left join (
        select *, count(*) over () as found, row_number() over page as place,
          sum(octet_length(json)) over page as size
        from (
          select ${key} as key, id, version, json from ${this.#table} ${conditions.where}
          ${order} limit ${conditions.bind(limit + 1)}
        ) as following
        window page as (${order})
      ) as page on place = 1 or (place <= ${conditions.bind(limit)} and size <= ${conditions.bind(bytes)})
      order by place`;
    const rows = await this.connections.read(sql, conditions.values);
    const items = rows.flatMap((row) => versioned<R>(row) ?? []);
    const total = rows[0]?.total;
    return {
      items,
      hasMore: rows.at(-1)?.more === true,
      total: total == null ? undefined : Number(total),
    };
  }

  /** @returns the record's JSON of an earlier creation; undefined when this is the first one */
  async #claim(query: Query, claim: Claim): Promise<string | undefined> {
    const receipts = `${this.#table}_receipts`;
    // It waits for a creation under the same key that has not been committed yet.
    const claimed = await query(
      `insert into ${receipts} as earlier values ($1, $2, $3, $4)
      on conflict (key) do update set (fingerprint, until, json) = row($2, $3, $4)
      where earlier.until <= $5 returning 1`,
      [claim.key, claim.fingerprint, claim.until, claim.json, claim.from],
    );
    if (claimed.length > 0) {
      await query(
        `delete from ${receipts} where key in (
          select key from ${receipts} where until <= $1 limit ${swept} for update skip locked
        )`,
        [claim.from],
      );
      return undefined;
    }
    const sql = `select fingerprint, json from ${receipts} where key = $1`;
    const [earlier] = await query(sql, [claim.key]);
    if (earlier?.fingerprint !== claim.fingerprint) {
      throw new RostrumError('idempotency-key-reused', {});
    }
    return String(earlier.json);
  }

  #row(record: R, version: number) {
    const json = JSON.stringify(record);
    const columns = { id: record.id, version, json, ...this.columns(record) };
    const names = Object.keys(columns).map((name) => `"${name}"`);
    const places = names.map((name, i) => `$${i + 1}${name === '"version"' ? '::bigint' : ''}`);
    return {
      names: names.join(', '),
      places: places.join(', '),
      values: Object.values(columns),
      json,
    };
  }
}

interface Claim extends Receipt {
  readonly json: string;
}

/** A key and a fingerprint may be any texts: digests of their JSON are different ones. */
function claimOf({ key, fingerprint, from, until }: Receipt, json: string): Claim {
  return { key: digest(key), fingerprint: digest(fingerprint), from, until, json };
}

function digest(text: string): string {
  return createHash('sha256').update(JSON.stringify(text)).digest('hex');
}

export function versioned<R>(row: Row | undefined): Versioned<R> | undefined {
  if (typeof row?.json !== 'string') return undefined;
  return new VersionedRecord<R>(row.json, Number(row.version));
}

function creation<R>(json: string, replayed: boolean): Creation<R> {
  return Object.assign(new VersionedRecord<R>(json, 1), { replayed });
}
