import type { ClientSession, Collection, Document, Filter as Query } from 'mongodb';
import type { Claim } from '../../domain/claim.ts';
import { idTaken } from '../../domain/errors.ts';
import type { Order, Page, PageRequest } from '../../domain/page.ts';
import type { Entity, Id, Versioned } from '../../domain/record.ts';
import { compareText } from '../../domain/text.ts';
import type { Creation, Decide, Repository } from '../../ports/repository.ts';
import type { Call } from './call.ts';
import { Claims } from './claims.ts';
import type { Connection } from './connection.ts';
import { firstVersion, isVisible, type StoredRecord, toVersioned } from './documents.ts';
import { DuplicateKey, SnapshotMissing } from './errors.ts';
import { type Conditions, fewQuery, pageQuery, type SortPaths } from './list-query.ts';
import type { PendingPosts } from './pending-posts.ts';

/** What tells one kind of record from another where they are read. */
export interface Kind<R, Filter, Sort extends string> {
  readonly conditions: (filter: Filter) => Conditions<Sort>;
  readonly paths: SortPaths<Sort>;
  readonly sortKey: (record: R, by: Sort) => string | null;
}

/** What users and posts have in common: reading, and the frame of every change. */
export abstract class MongodbRepository<
  R extends Entity,
  D extends StoredRecord,
  Filter,
  Sort extends string,
> implements Repository<R, Filter, Order<Sort>>
{
  protected readonly connection: Connection;
  protected readonly claims: Claims<R, D>;
  protected readonly pending: PendingPosts | undefined;
  readonly #collection: Collection<D>;
  readonly #kind: Kind<R, Filter, Sort>;

  constructor(
    connection: Connection,
    collection: Collection<D>,
    kind: Kind<R, Filter, Sort>,
    pending?: PendingPosts,
  ) {
    this.connection = connection;
    this.#collection = collection;
    this.#kind = kind;
    this.pending = pending;
    this.claims = new Claims(collection, pending);
  }

  async get(id: Id): Promise<Versioned<R> | undefined> {
    return this.connection.call(async (call) => toVersioned<R>(await this.find(call, id)));
  }

  async replay(claim: Claim): Promise<Versioned<R> | undefined> {
    return this.connection.call((call) => this.claims.find(call, claim));
  }

  async list(filter: Filter, page: PageRequest<Order<Sort>>): Promise<Page<Versioned<R>>> {
    const conditions = this.#kind.conditions(filter);
    return this.connection.call(async (call) => {
      if (conditions.never) return { items: [], ...(page.total && { total: 0 }) };
      // One snapshot for all that a list reads: a cascade is in it or is not, page and total agree.
      const snapshot = this.connection.hasTransactions;
      for (let attempt = 0; ; attempt++) {
        try {
          return await this.connection.inSession({ snapshot }, (session) =>
            conditions.few === undefined
              ? this.#page(call, session, conditions, page)
              : this.#few(call, session, conditions, page),
          );
        } catch (error) {
          if (!(error instanceof SnapshotMissing)) throw error;
          await call.pause(attempt);
        }
      }
    });
  }

  async scan(limit: number, after?: Id): Promise<readonly Versioned<R>[]> {
    const behind = after === undefined ? {} : { _id: { $gt: after } };
    return this.connection.call(async (call) => {
      const found = await call.read((bounds) =>
        this.#collection
          .find<D>({ ...behind, ...isVisible } as Query<D>, { hint: '_id_', ...bounds })
          .sort({ _id: 1 })
          .limit(limit)
          .toArray(),
      );
      return found.flatMap((stored) => toVersioned<R>(stored) ?? []);
    });
  }

  abstract load(records: readonly Versioned<R>[]): Promise<void>;
  abstract create(record: R, claim?: Claim): Promise<Creation<R>>;
  abstract update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined>;

  /** The document of a record that readers see, as a majority has it. */
  protected async find(call: Call, id: Id): Promise<D | undefined> {
    if (!id.isWellFormed()) return undefined;
    const found = await call.read((bounds) =>
      this.#collection.findOne<D>({ _id: id, ...isVisible } as Query<D>, { ...bounds }),
    );
    return found ?? undefined;
  }

  /**
   * The frame of a creation: `make` tries it once, and says false when it has to be tried again.
   * A key that is taken ends it, or sends it back, by the order of the port: the claim's, the
   * id, and then the rest.
   */
  protected async creation(
    given: R,
    claim: Claim | undefined,
    make: (call: Call, record: R, remains: D | undefined) => Promise<boolean>,
  ): Promise<Creation<R>> {
    const record = structuredClone(given); // Before anything is awaited: it is the caller's.
    return this.connection.call(async (call) => {
      let remains: D | undefined;
      for (let attempt = 0; ; attempt++) {
        const made = claim && (await this.claims.settle(call, claim));
        if (made !== undefined) return { stored: made, replayed: true };
        try {
          if (await make(call, record, remains)) {
            return { stored: { record, version: firstVersion }, replayed: false };
          }
        } catch (error) {
          if (!(error instanceof DuplicateKey)) throw error;
          const again =
            error.field === 'claims.key' || (claim && (await this.claims.isTaken(call, claim)));
          if (!again) await this.#meet(call, record.id, error);
        }
        await call.pause(attempt);
        remains = await this.#remains(call, record.id);
      }
    });
  }

  /** What stands in the way of a new record, when its claim does not. */
  async #meet(call: Call, id: Id, duplicate: DuplicateKey): Promise<void> {
    const there = await this.#anyState(call, id);
    if (there?.record !== undefined) throw idTaken(id);
    if (duplicate.field !== '_id') throw this.conflict(duplicate);
    await this.pending?.outwait(call, id);
  }

  /**
   * The frame of a change: decides it on what is stored, and lets `replace` put it there if that
   * still is what is stored; else all is done again.
   */
  protected async change(
    id: Id,
    decide: Decide<R>,
    replace: (call: Call, stored: D, current: Versioned<R>, next: R) => Promise<boolean>,
  ): Promise<Versioned<R> | undefined> {
    return this.connection.call(async (call) => {
      for (let attempt = 0; ; attempt++) {
        const stored = await this.find(call, id);
        const current = toVersioned<R>(stored);
        if (stored === undefined || current === undefined) return undefined;
        if (await this.isHeld(call, stored, attempt)) continue;
        // A copy, because what is shown may be changed, and the document still counts.
        const shown = structuredClone(current);
        const decided = decide(shown);
        if (decided === shown.record) return current;
        const next = structuredClone(decided);
        try {
          if (await replace(call, stored, current, next)) {
            return { record: next, version: current.version + 1 };
          }
        } catch (error) {
          if (!(error instanceof DuplicateKey)) throw error;
          // A claim that was read here has been outlived since, and is another record's.
          if (error.field !== 'claims.key') throw this.conflict(error);
        }
        await call.pause(attempt);
      }
    });
  }

  /** True, after a while, for a document that somebody else is about to decide over. */
  protected async isHeld(_call: Call, _stored: D, _attempt: number): Promise<boolean> {
    return false;
  }

  /** The error of a key that another record has. */
  protected abstract conflict(duplicate: DuplicateKey): unknown;

  /** What is left of a deleted record with this id, because its claims live on. */
  async #remains(call: Call, id: Id): Promise<D | undefined> {
    const there = await this.#anyState(call, id);
    return there && !there.record && !('pending' in there) ? there : undefined;
  }

  async #anyState(call: Call, _id: Id): Promise<D | undefined> {
    const found = await call.read((bounds) =>
      this.#collection.findOne<D>({ _id } as Query<D>, { readConcern: 'local', ...bounds }),
    );
    return found ?? undefined;
  }

  async #page(
    call: Call,
    session: ClientSession,
    conditions: Conditions<Sort>,
    { order, limit, after, total }: PageRequest<Order<Sort>>,
  ): Promise<Page<Versioned<R>>> {
    const { match, page, sort, hint } = pageQuery(conditions, order, this.#kind.paths, after);
    const found = await call.read((bounds) =>
      this.#collection
        .find<D>(page as Query<D>, { session, hint, ...bounds })
        .sort(sort)
        .limit(limit + 1) // One more tells whether a page follows.
        .toArray(),
    );
    const count = () =>
      call.read((bounds) =>
        this.#collection.countDocuments(match as Query<D>, { session, hint, ...bounds }),
      );
    return this.#toPage(found, order, limit, total ? await count() : undefined);
  }

  /** At most as many as a filter may name ids: they are put in order here. */
  async #few(
    call: Call,
    session: ClientSession,
    conditions: Conditions<Sort>,
    { order, limit, after, total }: PageRequest<Order<Sort>>,
  ): Promise<Page<Versioned<R>>> {
    const found = await call.read((bounds) =>
      this.#collection
        .find<D>(fewQuery(conditions) as Query<D>, {
          session,
          hint: conditions.few ?? '_id_',
          ...bounds,
        })
        .toArray(),
    );
    const sign = order.direction === 'asc' ? 1 : -1;
    const path = this.#kind.paths[order.by].split('.');
    const keyed = found.map((stored) => ({ stored, key: textAt(stored, path), id: stored._id }));
    keyed.sort((a, b) => sign * comparePlaces(a, b));
    const from = after && { key: after.key ?? '', id: after.id };
    const behind = keyed.filter((place) => !from || sign * comparePlaces(place, from) > 0);
    const stored = behind.slice(0, limit + 1).map((place) => place.stored);
    return this.#toPage(stored, order, limit, total ? found.length : undefined);
  }

  #toPage(
    found: readonly D[],
    { by }: Order<Sort>,
    limit: number,
    total: number | undefined,
  ): Page<Versioned<R>> {
    const items = found.slice(0, limit).flatMap((stored) => toVersioned<R>(stored) ?? []);
    const last = found.length > limit ? items.at(-1)?.record : undefined;
    return {
      items,
      ...(last && { next: { key: this.#kind.sortKey(last, by), id: last.id } }),
      ...(total !== undefined && { total }),
    };
  }
}

interface Place {
  readonly key: string;
  readonly id: Id;
}

function comparePlaces(a: Place, b: Place): number {
  return compareText(a.key, b.key) || compareText(a.id, b.id);
}

function textAt(stored: Document, path: readonly string[]): string {
  const value: unknown = path.reduce<unknown>((part, key) => (part as Document)[key], stored);
  return typeof value === 'string' ? value : '';
}
