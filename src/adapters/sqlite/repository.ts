import type { CustomFilters } from '../../domain/declared-fields.ts';
import { copyJson } from '../../domain/json.ts';
import { cutPage, type EntityFilter, type Page, type PageRequest } from '../../domain/list.ts';
import type { Receipt } from '../../domain/receipt.ts';
import { type Entity, type Id, type Versioned, VersionedRecord } from '../../domain/record.ts';
import type { Creation, Decide, Guard, Repository } from '../../ports/repository.ts';
import type { RecordTransfer, ScanRequest } from '../../ports/transfer.ts';
import type { Connection } from './connection/connection.ts';
import type { LongReads } from './connection/long-reads.ts';
import { reading } from './connection/reading.ts';
import type { WriteQueue } from './connection/write-queue.ts';
import type { SqliteEvents } from './events.ts';
import { textForOrder } from './lists/conditions.ts';
import { withCustomFilters } from './lists/custom-filters.ts';
import type { ListScheme } from './lists/plan.ts';
import { readPage } from './lists/read-page.ts';
import { Receipts } from './receipts.ts';
import { RecordTable, type RowMapping } from './record-table.ts';

/** Records that are loaded in one step; it takes some milliseconds. */
const partLength = 200;

/** What the repositories of one store share. */
export interface StoreParts {
  readonly connection: Connection;
  readonly reads: LongReads;
  readonly writes: WriteQueue;
  readonly events: SqliteEvents;
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
> implements Repository<R, Filter, Sort>, RecordTransfer<R>
{
  protected readonly connection: Connection;
  protected readonly table: RecordTable<R>;
  readonly #reads: LongReads;
  readonly #writes: WriteQueue;
  readonly #scheme: ListScheme<Filter, Sort>;
  readonly #receipts: Receipts;

  constructor(parts: StoreParts, scheme: RowMapping<R> & ListScheme<Filter, Sort>) {
    this.connection = parts.connection;
    this.table = new RecordTable(parts.connection, scheme, parts.events);
    this.#reads = parts.reads;
    this.#writes = parts.writes;
    this.#scheme = withCustomFilters(scheme, parts.customFilters[scheme.table]);
    this.#receipts = new Receipts(parts.connection, scheme.table);
  }

  async get(id: Id): Promise<Versioned<R> | undefined> {
    return reading(() => this.table.find(id));
  }

  async list({ signal, ...request }: PageRequest<Filter, Sort>): Promise<Page<R>> {
    const asked = copyJson(request); // A long read looks at it once more.
    const read = (connection: Connection) =>
      readPage<R, Filter, Sort>(connection, this.#scheme, asked);
    return reading(() => this.#reads.run(read, signal));
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

  async scan({ after = '', ...cut }: ScanRequest): Promise<readonly Versioned<R>[]> {
    const first = textForOrder(after) === after ? `${after}\0` : textForOrder(after);
    // The next scan begins behind the last id, and needs no position.
    const nowhere = () => ({ key: null, id: '' });
    return reading(() => cutPage(this.table.from(first, cut.limit), cut, nowhere).items);
  }

  async load(records: readonly Versioned<R>[]): Promise<void> {
    // Taken now and not later: what the caller does to them meanwhile is not stored.
    const taken = records.map(({ json, version }) => new VersionedRecord<R>(json, version));
    // All are queued now, as the store may be closed meanwhile; in parts, so that other changes,
    // those of other processes too, come in between.
    const parts: Promise<void>[] = [];
    while (taken.length > 0) {
      const part = taken.splice(0, partLength);
      parts.push(
        this.#writes.add(() => {
          for (const record of part) this.table.put(record);
        }),
      );
    }
    const failed = (await Promise.allSettled(parts)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  /**
   * Deletes a record that the guard lets go, together with what `before` does.
   *
   * @returns what `before` does; undefined when there is no record with this id
   */
  protected remove<T>(
    id: Id,
    guard: Guard<R> | undefined,
    before: () => T,
  ): Promise<T | undefined> {
    return this.#writes.add(() => {
      const current = this.table.find(id);
      if (current === undefined) return undefined;
      guard?.(current);
      const done = before();
      this.table.remove(id);
      return done;
    });
  }
}

function creation<R>(json: string, replayed: boolean): Creation<R> {
  return Object.assign(new VersionedRecord<R>(json, 1), { replayed });
}
