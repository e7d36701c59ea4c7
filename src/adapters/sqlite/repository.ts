import type { ListQuery, Page } from '../../domain/list.ts';
import type { Post } from '../../domain/post.ts';
import type { Receipt } from '../../domain/receipt.ts';
import { type Id, type Version, type Versioned, VersionedRecord } from '../../domain/record.ts';
import type { User } from '../../domain/user.ts';
import type { PostRepository } from '../../ports/post-repository.ts';
import type { Creation, Decide, Guard, Repository } from '../../ports/repository.ts';
import type { DeletedId, RecordTransfer, ScanRequest } from '../../ports/transfer.ts';
import type { OpenFile } from './connection/open-file.ts';
import type { WriteQueue } from './connection/write-queue.ts';
import type { ListReaders } from './lists/list-readers.ts';
import { type CreatedRow, Receipts } from './receipts.ts';
import type { Records } from './records.ts';

/** How many records `load` stores in one step: a few milliseconds. */
const partLength = 200;

/** What the repositories of one store share. */
export interface StoreParts {
  readonly file: OpenFile;
  readonly lists: ListReaders;
  readonly writes: WriteQueue;
}

/** What users and posts have in common. */
export class SqliteRepository<R extends User | Post> implements Repository<R>, RecordTransfer<R> {
  protected readonly records: Records<R>;
  readonly #parts: StoreParts;
  readonly #receipts: Receipts;

  constructor(parts: StoreParts, records: Records<R>) {
    this.records = records;
    this.#parts = parts;
    this.#receipts = new Receipts(parts.file.connection, records.collection);
  }

  get(id: Id): Promise<Versioned<R> | undefined> {
    return this.#parts.file.read(() => this.records.find(id));
  }

  list(query: ListQuery): Promise<Page<R>> {
    return this.#parts.lists.read<R>(this.records.collection, query);
  }

  create(record: R, receipt?: Receipt): Promise<Creation<R>> {
    // Copied now: the caller may reuse its arguments.
    const [json, taken, once] = [
      JSON.stringify(record),
      { ...record } as R,
      receipt && { ...receipt },
    ];
    return this.#parts.writes.add(() => {
      const earlier = once && this.#receipts.find(once);
      if (earlier !== undefined) return creation<R>(earlier, true);
      const row = { json, version: this.records.insert(taken, json) };
      if (once !== undefined) this.#receipts.add(once, row);
      return creation<R>(row, false);
    });
  }

  lastVersion(id: Id): Promise<Version | undefined> {
    return this.#parts.file.read(() => this.records.lastVersion(id));
  }

  update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined> {
    return this.#parts.writes.add(() => this.records.replace(id, decide));
  }

  async scan({ after, limit, bytes }: ScanRequest): Promise<readonly Versioned<R>[]> {
    const order = { field: 'id', direction: 'asc' } as const;
    const position = after === undefined ? after : { key: after, id: after };
    return (await this.list({ conditions: [], order, after: position, limit, bytes })).items;
  }

  load(records: readonly Versioned<R>[]): Promise<void> {
    const taken = records.map(({ json, version }) => new VersionedRecord<R>(json, version));
    return this.#inParts(taken, (record) => this.records.put(record));
  }

  readonly deleted = {
    scan: (limit: number, after = ''): Promise<readonly DeletedId[]> =>
      this.#parts.file.read(() => this.records.deletedBehind(after, limit)),
    load: (ids: readonly DeletedId[]): Promise<void> =>
      this.#inParts([...ids], (one) => this.records.putDeleted(one)),
  };

  /**
   * Deletes a record, if `guard` allows it.
   *
   * @param before what to do first
   * @returns what `before` returns; undefined when there is no record with this id
   */
  protected remove<T>(
    id: Id,
    guard: Guard<R> | undefined,
    before: () => T,
  ): Promise<T | undefined> {
    return this.#parts.writes.add(() => {
      const current = this.records.find(id);
      if (current === undefined) return undefined;
      guard?.(current);
      const done = before();
      this.records.remove(id, current.version);
      return done;
    });
  }

  /** Stores some at a time, so that other changes, also of other processes, come in between. */
  async #inParts<T>(all: T[], put: (one: T) => void): Promise<void> {
    const parts: Promise<void>[] = [];
    // All are queued now, because the store may be closed meanwhile.
    while (all.length > 0) {
      const part = all.splice(0, partLength);
      const putAll = () => {
        for (const one of part) put(one);
      };
      parts.push(this.#parts.writes.add(putAll));
    }
    const failed = (await Promise.allSettled(parts)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
}

export class SqlitePostRepository extends SqliteRepository<Post> implements PostRepository {
  async delete(id: Id, guard?: Guard<Post>): Promise<boolean> {
    return (await this.remove(id, guard, () => true)) ?? false;
  }
}

function creation<R>({ json, version }: CreatedRow, replayed: boolean): Creation<R> {
  return Object.assign(new VersionedRecord<R>(json, version), { replayed });
}
