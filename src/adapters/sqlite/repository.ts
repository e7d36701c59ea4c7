import type { Claim } from '../../domain/claim.ts';
import { idTaken } from '../../domain/errors.ts';
import type { EntityFilter, Order, Page, PageRequest } from '../../domain/page.ts';
import type { Entity, Id, Versioned } from '../../domain/record.ts';
import type { Creation, Decide, Repository } from '../../ports/repository.ts';
import { Claims } from './claims.ts';
import type { Condition } from './conditions.ts';
import { type Connection, textLength } from './connection.ts';
import { isDriverError, resultCode, translated } from './driver-error.ts';
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
  /** Why a constraint other than the primary key's does not hold for a row; undefined when it does. */
  readonly conflict: (row: Row, connection: Connection) => Error | undefined;
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
    this.table = new RecordTable(connection, kind.rows);
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
      this.#insert(row);
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
      return this.table.versioned(this.#replace(row, next));
    });
  }

  #insert(row: Row): void {
    try {
      this.table.insert(row);
    } catch (error) {
      if (!isDriverError(error, resultCode.constraint)) throw error;
      // Which constraint it was is looked up here, in the same transaction: drivers say it in
      // their message alone, and of several they name any.
      if (this.table.find(row.id) !== undefined) throw idTaken(row.id);
      throw this.#kind.conflict(row, this.connection) ?? error;
    }
  }

  #replace(last: Row, next: R): Row {
    try {
      return this.table.replace(last, next);
    } catch (error) {
      if (!isDriverError(error, resultCode.constraint)) throw error;
      throw (
        this.#kind.conflict(this.#kind.rows.toRow(next, last.version), this.connection) ?? error
      );
    }
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
