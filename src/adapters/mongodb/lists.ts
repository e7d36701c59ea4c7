import type { ClientSession, Collection, Document, Filter as Query } from 'mongodb';
import { comparePositions, type Order, type Page, type PageRequest } from '../../domain/page.ts';
import type { Entity, Versioned } from '../../domain/record.ts';
import type { Call } from './call.ts';
import type { Connection } from './connection.ts';
import { type StoredRecord, toVersioned } from './documents.ts';
import { SnapshotMissing } from './errors.ts';
import { type Conditions, fewQuery, pageQuery, type SortPaths } from './list-query.ts';

/** What tells one kind of record from another where they are read. */
export interface Kind<R, Filter, Sort extends string> {
  readonly conditions: (filter: Filter) => Conditions<Sort>;
  readonly paths: SortPaths<Sort>;
  readonly sortKey: (record: R, by: Sort) => string | null;
}

/** The lists of one kind of record. */
export class Lists<R extends Entity, D extends StoredRecord, Filter, Sort extends string> {
  readonly #connection: Connection;
  readonly #collection: Collection<D>;
  readonly #kind: Kind<R, Filter, Sort>;

  constructor(connection: Connection, collection: Collection<D>, kind: Kind<R, Filter, Sort>) {
    this.#connection = connection;
    this.#collection = collection;
    this.#kind = kind;
  }

  async list(
    call: Call,
    filter: Filter,
    page: PageRequest<Order<Sort>>,
  ): Promise<Page<Versioned<R>>> {
    const conditions = this.#kind.conditions(filter);
    if (conditions.never) return { items: [], ...(page.total && { total: 0 }) };
    // One snapshot for all that a list reads: a cascade is in it or is not, page and total agree.
    const snapshot = this.#connection.hasTransactions;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#connection.inSession({ snapshot }, (session) =>
          conditions.few === undefined
            ? this.#page(call, session, conditions, page)
            : this.#few(call, session, conditions, page),
        );
      } catch (error) {
        if (!(error instanceof SnapshotMissing)) throw error;
        await call.pause(attempt);
      }
    }
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
    keyed.sort((a, b) => sign * comparePositions(a, b));
    const from = after && { key: after.key ?? '', id: after.id };
    const behind = keyed.filter((place) => !from || sign * comparePositions(place, from) > 0);
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

function textAt(stored: Document, path: readonly string[]): string {
  const value: unknown = path.reduce<unknown>((part, key) => (part as Document)[key], stored);
  return typeof value === 'string' ? value : '';
}
