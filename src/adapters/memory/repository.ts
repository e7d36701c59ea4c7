import type { Claim } from '../../domain/claim.ts';
import { idTaken } from '../../domain/errors.ts';
import { copyJson } from '../../domain/json.ts';
import type { EntityFilter, Order, Page, PageRequest } from '../../domain/page.ts';
import type { Entity, Id, Versioned } from '../../domain/record.ts';
import type { Creation, Decide, Repository } from '../../ports/repository.ts';
import { Claims } from './claims.ts';
import { matchesEntity } from './filter.ts';
import type { Lifetime } from './lifetime.ts';
import type { Table } from './table.ts';

/**
 * What both repositories do alike. Every method does its work in one go, before it first returns
 * to its caller: that makes it atomic.
 */
export abstract class MemoryRepository<
  R extends Entity,
  Filter extends EntityFilter,
  Sort extends string,
> implements Repository<R, Filter, Order<Sort>>
{
  protected readonly lifetime: Lifetime;
  readonly #table: Table<R, Sort>;
  readonly #claims = new Claims<R>();

  constructor(lifetime: Lifetime, table: Table<R, Sort>) {
    this.lifetime = lifetime;
    this.#table = table;
  }

  async get(id: Id): Promise<Versioned<R> | undefined> {
    this.lifetime.check();
    return copyJson(this.#table.get(id));
  }

  async list(filter: Filter, request: PageRequest<Order<Sort>>): Promise<Page<Versioned<R>>> {
    this.lifetime.check();
    const entityMatches = matchesEntity(filter);
    const matches = this.matches(filter);
    return copyJson(
      this.#table.page((record) => entityMatches(record) && matches(record), request),
    );
  }

  async create(record: R, claim?: Claim): Promise<Creation<R>> {
    this.lifetime.check();
    const earlier = claim && this.#claims.find(claim);
    if (earlier !== undefined) return { stored: copyJson(earlier), replayed: true };
    if (this.#table.get(record.id) !== undefined) throw idTaken(record.id);
    this.checkConflicts(record);
    const stored = this.#table.put(record, 1);
    if (claim !== undefined) this.#claims.add(claim, stored);
    return { stored: copyJson(stored), replayed: false };
  }

  async replay(claim: Claim): Promise<Versioned<R> | undefined> {
    this.lifetime.check();
    return copyJson(this.#claims.find(claim));
  }

  async update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined> {
    this.lifetime.check();
    const current = this.#table.get(id);
    if (current === undefined) return undefined;
    const given = copyJson(current);
    const next = decide(given);
    if (next === given.record) return copyJson(current);
    this.checkConflicts(next);
    return copyJson(this.#table.put(next, current.version + 1));
  }

  async scan(limit: number, after?: Id): Promise<readonly Versioned<R>[]> {
    this.lifetime.check();
    return copyJson(this.#table.scan(limit, after));
  }

  async load(records: readonly Versioned<R>[]): Promise<void> {
    this.lifetime.check();
    for (const { record, version } of records) {
      this.checkConflicts(record);
      this.#table.put(record, version);
    }
  }

  /** Throws when a record cannot be stored beside what is there. */
  protected abstract checkConflicts(record: R): void;

  /** What this kind's own part of a filter lets through. */
  protected abstract matches(filter: Filter): (record: R) => boolean;
}
