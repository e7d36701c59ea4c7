import type { Collection, Filter as Query } from 'mongodb';
import type { Claim } from '../../domain/claim.ts';
import { idTaken } from '../../domain/errors.ts';
import { copyJson } from '../../domain/json.ts';
import type { Order, Page, PageRequest } from '../../domain/page.ts';
import type { Entity, Id, Versioned } from '../../domain/record.ts';
import type { Creation, Decide, Repository } from '../../ports/repository.ts';
import type { Call } from './call.ts';
import { Claims } from './claims.ts';
import type { Connection } from './connection.ts';
import { firstVersion, isVisible, type StoredRecord, toVersioned } from './documents.ts';
import { DuplicateKey } from './errors.ts';
import { type Kind, Lists } from './lists.ts';
import type { PendingPosts } from './pending-posts.ts';

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
  readonly #lists: Lists<R, D, Filter, Sort>;

  constructor(
    connection: Connection,
    collection: Collection<D>,
    kind: Kind<R, Filter, Sort>,
    pending?: PendingPosts,
  ) {
    this.connection = connection;
    this.#collection = collection;
    this.#lists = new Lists(connection, collection, kind);
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
    return this.connection.call((call) => this.#lists.list(call, filter, page));
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
    const record = copyJson(given); // Before anything is awaited: it is the caller's.
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
    await this.pending?.outwait(call, [id]);
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
        const shown = copyJson(current);
        const decided = decide(shown);
        if (decided === shown.record) return current;
        const next = copyJson(decided);
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
}
