import type { Clock } from '../../ports/clock.ts';
import type { IdGenerator } from '../../ports/id-generator.ts';
import type { Creation, Repository } from '../../ports/repository.ts';
import { type Claim, type Idempotency, makeClaim } from '../claim.ts';
import { invalidRecord, isRostrumError, type RostrumError } from '../errors.ts';
import { type FieldIssue, maxIssues } from '../issues.ts';
import {
  type EntityFilter,
  type ListRequest,
  type Order,
  type Page,
  pageRequest,
} from '../page.ts';
import { checkPrecondition, type Precondition } from '../precondition.ts';
import type { Entity, Id, Versioned } from '../record.ts';
import type { RecordModel } from '../record-model.ts';

/** What a service works with. */
export interface ServiceParts<R extends Entity, Repo> {
  readonly model: RecordModel<R>;
  readonly repository: Repo;
  readonly clock: Clock;
  readonly ids: IdGenerator;
}

/** The use cases that users and posts have in common, one method each. */
export abstract class RecordService<
  R extends Entity,
  Filter extends EntityFilter,
  Sort extends string,
  Repo extends Repository<R, Filter, Order<Sort | 'createdAt'>>,
> {
  protected readonly repository: Repo;
  protected readonly clock: Clock;
  readonly #model: RecordModel<R>;
  readonly #ids: IdGenerator;

  constructor({ model, repository, clock, ids }: ServiceParts<R, Repo>) {
    this.#model = model;
    this.repository = repository;
    this.clock = clock;
    this.#ids = ids;
  }

  /**
   * Makes a record. With an idempotency key, a repeat within 24 hours makes nothing and returns
   * the record as it was first made.
   *
   * @throws RostrumError `idempotency-key-reused`, `invalid-record`, `email-taken`
   */
  async create(input: unknown, idempotency?: Idempotency): Promise<Creation<R>> {
    const now = this.clock.now();
    const claim = idempotency && makeClaim(idempotency, now);
    let record: R;
    try {
      record = this.#model.make(input, this.#ids.next(), now);
    } catch (error) {
      return this.#replayOr(claim, await this.#complete(error, input));
    }
    return this.repository.create(record, claim);
  }

  /** @throws RostrumError `user-not-found` or `post-not-found` */
  async get(id: Id): Promise<Versioned<R>> {
    return this.#found(id, await this.repository.get(id));
  }

  /**
   * A page of the records that match, the newest first when no order is given.
   *
   * @throws RangeError for a limit, an order or a number of ids that no list may be asked for
   */
  async list(request: ListRequest<Filter, Order<Sort>>): Promise<Page<Versioned<R>>> {
    const page = pageRequest(request, this.sorts);
    return this.repository.list(request.filter ?? ({} as Filter), page);
  }

  /**
   * Replaces a whole record; what the input leaves out is gone.
   *
   * @throws RostrumError `user-not-found` or `post-not-found`, `precondition-required`,
   * `version-mismatch`, `invalid-record`, `email-taken`
   */
  replace(id: Id, input: unknown, precondition: Precondition = {}): Promise<Versioned<R>> {
    const now = this.clock.now();
    return this.#change(id, input, precondition, (r) => this.#model.replace(r, input, now));
  }

  /**
   * Changes what a JSON merge patch (RFC 7396) names.
   *
   * @throws RostrumError as {@link replace}
   */
  patch(id: Id, patch: unknown, precondition: Precondition = {}): Promise<Versioned<R>> {
    const now = this.clock.now();
    return this.#change(id, patch, precondition, (r) => this.#model.patch(r, patch, now));
  }

  /** What such records may be sorted by. */
  protected abstract readonly sorts: readonly Sort[];

  /** The error of an id that names nothing. */
  protected abstract notFound(id: Id): RostrumError;

  /** What else is wrong with an input that is invalid already, and only the store knows. */
  protected abstract alsoWrong(input: unknown): Promise<readonly FieldIssue[]>;

  async #change(
    id: Id,
    input: unknown,
    precondition: Precondition,
    change: (record: R) => R,
  ): Promise<Versioned<R>> {
    try {
      const stored = await this.repository.update(id, (current) => {
        checkPrecondition(precondition, current.version);
        return change(current.record);
      });
      return this.#found(id, stored);
    } catch (error) {
      throw await this.#complete(error, input);
    }
  }

  /** An invalid repeat is judged by its key first, as a valid one is by the store. */
  async #replayOr(claim: Claim | undefined, error: unknown): Promise<Creation<R>> {
    const stored = claim && (await this.repository.replay(claim));
    if (stored === undefined) throw error;
    return { stored, replayed: true };
  }

  /** All that is wrong at once, and not what only the store knows at the second try. */
  async #complete(error: unknown, input: unknown): Promise<unknown> {
    if (!isRostrumError(error, 'invalid-record')) return error;
    const { issues } = error.details;
    const known = new Set(issues.map((issue) => issue.pointer));
    const more = (await this.alsoWrong(input)).filter((issue) => !known.has(issue.pointer));
    return more.length === 0 ? error : invalidRecord([...issues, ...more].slice(0, maxIssues));
  }

  #found(id: Id, stored: Versioned<R> | undefined): Versioned<R> {
    if (stored === undefined) throw this.notFound(id);
    return stored;
  }
}
