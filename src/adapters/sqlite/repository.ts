import { setTimeout as pause } from 'node:timers/promises';
import type { CustomFilters } from '../../domain/custom-filters.ts';
import {
  cutPage,
  type EntityFilter,
  type Page,
  type PageRequest,
  type Position,
} from '../../domain/list.ts';
import type { Receipt } from '../../domain/receipt.ts';
import {
  type Entity,
  type Id,
  JsonVersioned,
  type Version,
  type Versioned,
} from '../../domain/record.ts';
import type { Creation, Decide, Guard, Repository } from '../../ports/repository.ts';
import type { Connection } from './connection/connection.ts';
import { isDriverError, resultCode, translated } from './connection/errors.ts';
import type { WriteQueue } from './connection/write-queue.ts';
import { withCustomFilters } from './lists/custom-filters.ts';
import {
  type ListScheme,
  type PageRow,
  pageQuery,
  positionQuery,
  type Query,
  totalQuery,
} from './lists/lists.ts';
import { projection, whole } from './lists/projection.ts';
import { Receipts } from './receipts.ts';
import { RecordTable, type RowMapping } from './record-table.ts';

/** What the repositories of one store share. */
export interface StoreParts {
  readonly connection: Connection;
  readonly writes: WriteQueue;
  readonly customFilters: CustomFilters;
}

/**
 * What users and posts have in common.
 *
 * Reads run at once: between the groups of the write queue, nothing is there that is not
 * committed. What another process commits is in the next read.
 */
export abstract class SqliteRepository<
  R extends Entity,
  Filter extends EntityFilter,
  Sort extends string,
> implements Repository<R, Filter, Sort>
{
  protected readonly connection: Connection;
  protected readonly table: RecordTable<R>;
  readonly #writes: WriteQueue;
  readonly #scheme: ListScheme<Filter, Sort>;
  readonly #receipts: Receipts;

  constructor(parts: StoreParts, scheme: RowMapping<R> & ListScheme<Filter, Sort>) {
    this.connection = parts.connection;
    this.table = new RecordTable(parts.connection, scheme);
    this.#writes = parts.writes;
    this.#scheme = withCustomFilters(scheme, parts.customFilters[scheme.table]);
    this.#receipts = new Receipts(parts.connection, scheme.table);
  }

  async get(id: Id): Promise<Versioned<R> | undefined> {
    return reading(() => this.table.find(id));
  }

  async list(request: PageRequest<Filter, Sort>): Promise<Page<R>> {
    const read = (): Page<R> => {
      const cut = request.fields && projection(this.#scheme.fields, request.fields);
      const rows = this.#rows(pageQuery(this.#scheme, request, cut), cut);
      const page = cutPage(rows, request, ({ row }) => this.#position(request.order.by, row));
      const total = request.total ? { total: this.#count(request.filter) } : {};
      return { ...page, ...total, isProjected: cut !== undefined };
    };
    // Another process may commit between two statements: all of a page is of one moment.
    return reading(() => this.connection.transaction('DEFERRED', read));
  }

  create(record: R, receipt?: Receipt): Promise<Creation<R>> {
    // Taken now and not later: what the caller does to it meanwhile is not stored.
    const [json, taken, once] = [JSON.stringify(record), { ...record }, receipt && { ...receipt }];
    return this.#writes.add(() => {
      const earlier = once && this.#receipts.find(once);
      if (earlier !== undefined) return creation<R>(earlier, true);
      this.table.insert(taken, json);
      if (once !== undefined) this.#receipts.add(once, json);
      return creation<R>(json, false);
    });
  }

  async isIdTaken(id: Id): Promise<boolean> {
    return reading(() => this.table.isIdTaken(id));
  }

  update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined> {
    return this.#writes.add(() => this.table.replace(id, decide));
  }

  /** Deletes a record that the guard lets go, together with what `before` does. */
  protected remove(id: Id, guard?: Guard<R>, before?: () => void): Promise<boolean> {
    return this.#writes.add(() => {
      const current = this.table.find(id);
      if (current === undefined) return false;
      guard?.(current);
      before?.();
      this.table.remove(id);
      return true;
    });
  }

  *#rows({ sql, values }: Query, text = whole): Iterable<Listed<R>> {
    const read = `SELECT version, ${text.sql} FROM ${this.#scheme.table} WHERE rowid = ?`;
    for (const [row, version, json] of this.connection.all<PageRow>(sql, ...values)) {
      if (version !== null && json !== null) {
        yield new Listed<R>(json, version, row);
        continue;
      }
      const found = this.connection.get<[Version, string]>(read, ...text.values, row);
      if (found !== undefined) yield new Listed<R>(found[1], found[0], row);
    }
  }

  /** Where a row of a page is; asked for while the page's query goes on. */
  #position(by: Sort, row: number): Position {
    const { sql, values } = positionQuery(this.#scheme, by, row);
    const [key, id] = this.connection.get<[string, Id]>(sql, ...values) ?? ['', ''];
    return { key: key === '' ? null : key, id };
  }

  #count(filter: Filter): number {
    const { sql, values } = totalQuery(this.#scheme, filter);
    return this.connection.get<[number]>(sql, ...values)?.[0] ?? 0;
  }
}

/** A record of a list, with its rowid. */
class Listed<R> extends JsonVersioned<R> {
  readonly row: number;

  constructor(json: string, version: Version, row: number) {
    super(json, version);
    this.row = row;
  }
}

function creation<R>(json: string, replayed: boolean): Creation<R> {
  return Object.assign(new JsonVersioned<R>(json, 1), { replayed });
}

/** For how long a read waits, and how often it tries again, while a process recovers the log. */
const [recoveryMs, retryMs] = [2000, 5];

/** A read changes nothing, whatever becomes of it. */
export async function reading<T>(read: () => T): Promise<T> {
  const start = performance.now();
  for (;;) {
    try {
      return read();
    } catch (error) {
      const isBusy = isDriverError(error, resultCode.busy);
      if (!isBusy || performance.now() - start > recoveryMs) throw translated(error, 'none');
    }
    await pause(retryMs);
  }
}
