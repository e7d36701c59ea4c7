import type { Claim } from '../../domain/claim.ts';
import type { EntityFilter, Order, Page, PageRequest } from '../../domain/page.ts';
import type { Entity, Id, Versioned } from '../../domain/record.ts';
import type { Creation, Decide, Repository } from '../../ports/repository.ts';
import { Claims } from './claims.ts';
import { type Condition, where } from './conditions.ts';
import type { FindConflict } from './conflicts.ts';
import { type Connection, textLength } from './connection.ts';
import { translated } from './driver-error.ts';
import { type ListScheme, pageQuery, totalQuery } from './list-query.ts';
import { RecordTable } from './record-table.ts';
import type { EntityRow, RowMapping } from './rows.ts';
import type { WriteQueue } from './write-queue.ts';

/** What the repositories of one store share. */
export interface StoreParts {
  readonly connection: Connection;
  readonly writes: WriteQueue;
}

/** What there is to one kind of record. */
export interface Kind<
  R extends Entity,
  Row extends EntityRow,
  Filter extends EntityFilter,
  Sort extends string,
> {
  readonly rows: RowMapping<R, Row>;
  readonly lists: ListScheme<Filter, Sort>;
  readonly sortKey: (record: R, by: Sort) => string | null;
  readonly findConflict: FindConflict<Row>;
}

/**
 * What users and posts have in common.
 *
 * Reads run at once: between the groups of the write queue, nothing is there that is not
 * committed.
 */
export abstract class SqliteRepository<
  R extends Entity,
  Row extends EntityRow,
  Filter extends EntityFilter,
  Sort extends string,
> implements Repository<R, Filter, Order<Sort>>
{
  protected readonly connection: Connection;
  protected readonly writes: WriteQueue;
  protected readonly table: RecordTable<R, Row>;
  readonly #kind: Kind<R, Row, Filter, Sort>;
  readonly #claims: Claims;

  constructor({ connection, writes }: StoreParts, kind: Kind<R, Row, Filter, Sort>) {
    this.connection = connection;
    this.writes = writes;
    this.table = new RecordTable(connection, kind.rows, kind.findConflict);
    this.#kind = kind;
    this.#claims = new Claims(connection, kind.rows.table);
  }

  async get(id: Id): Promise<Versioned<R> | undefined> {
    return reading(() => {
      const row = this.table.find(id);
      return row && this.table.versioned(row);
    });
  }

  async list(filter: Filter, page: PageRequest<Order<Sort>>): Promise<Page<Versioned<R>>> {
    const { limit, order } = page;
    return reading(() => {
      const rows = this.#select<Row>(pageQuery(this.#kind.lists, filter, page));
      const items = rows.slice(0, limit).map((row) => this.table.versioned(row));
      const last = rows.length > limit ? items.at(-1)?.record : undefined;
      return {
        items,
        ...(last && { next: { key: this.#kind.sortKey(last, order.by), id: last.id } }),
        ...(page.total && { total: this.#count(filter) }),
      };
    });
  }

  async create(record: R, claim?: Claim): Promise<Creation<R>> {
    // Taken now and not at its turn: what the caller does to them meanwhile is not stored.
    const row = this.#kind.rows.toRow(record, 1);
    const claimed = claim && { claim: { ...claim }, text: JSON.stringify(record) };
    const text = textLength(Object.values(row)) + (claimed?.text.length ?? 0);
    return this.writes.add(() => {
      const earlier = claimed && this.#claims.find(claimed.claim);
      if (earlier !== undefined) return { stored: firstVersion<R>(earlier), replayed: true };
      this.table.insert(row);
      if (claimed) this.#claims.add(claimed.claim, claimed.text);
      return { stored: this.table.versioned(row), replayed: false };
    }, text);
  }

  async replay(claim: Claim): Promise<Versioned<R> | undefined> {
    const text = reading(() => this.#claims.find(claim));
    return text === undefined ? undefined : firstVersion(text);
  }

  async update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined> {
    return this.writes.add(() => {
      const row = this.table.find(id);
      if (row === undefined) return undefined;
      const current = this.table.versioned(row);
      const next = decide(current);
      if (next === current.record) return current;
      return this.table.versioned(this.table.replace(row, next));
    });
  }

  async scan(limit: number, after?: Id): Promise<readonly Versioned<R>[]> {
    const { table } = this.#kind.rows;
    const query = where(after === undefined ? [] : [{ sql: 'id > ?', values: [after] }]);
    const sql = `SELECT * FROM ${table}${query.sql} ORDER BY id LIMIT ?`;
    return reading(() =>
      this.connection.all<Row>(sql, ...query.values, limit).map((row) => this.table.versioned(row)),
    );
  }

  async load(records: readonly Versioned<R>[]): Promise<void> {
    const rows = records.map(({ record, version }) => this.#kind.rows.toRow(record, version));
    const text = rows.reduce((sum, row) => sum + textLength(Object.values(row)), 0);
    return this.writes.add(() => {
      for (const row of rows) this.table.put(row);
    }, text);
  }

  #select<Found>(query: Condition | undefined): Found[] {
    return query ? this.connection.all<Found>(query.sql, ...query.values) : [];
  }

  #count(filter: Filter): number {
    const [row] = this.#select<{ total: number }>(totalQuery(this.#kind.lists, filter));
    return row?.total ?? 0;
  }
}

/** A read changes nothing, whatever becomes of it. */
function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw translated(error, 'none');
  }
}

/** A record as it was when it was made, out of a claim. */
function firstVersion<R>(text: string): Versioned<R> {
  return { record: JSON.parse(text), version: 1 };
}
