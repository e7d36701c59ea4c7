import type { Clock } from '../../ports/clock.ts';
import type { IdGenerator } from '../../ports/id-generator.ts';
import type { Creation, Repository } from '../../ports/repository.ts';
import { Access, defaultOrder, itself, subjectOf } from '../access.ts';
import type { Caller } from '../caller.ts';
import type { CustomFilterFields } from '../custom-filters.ts';
import { isRostrumError, isUnknownAuthor, RostrumError } from '../errors.ts';
import { type Instant, isInstant } from '../instant.ts';
import { type FieldIssue, maxIssues } from '../issues.ts';
import { copyJson } from '../json.ts';
import type { EntityFilter, Page, PageRequest } from '../list.ts';
import {
  type ListRequest,
  type ListRules,
  type PartialListRequest,
  pageRequest,
} from '../list-request.ts';
import { checkOptions, checkSynchronous } from '../options.ts';
import { checkPrecondition, checkPreconditionOptions, type Precondition } from '../precondition.ts';
import { makeReceipt, type Receipt } from '../receipt.ts';
import {
  type Collection,
  type EntityFields,
  type Id,
  projected,
  type Versioned,
  VersionedRecord,
} from '../record.ts';
import type { RecordModel } from '../record-model.ts';
import { isCleanText } from '../text.ts';
import type { Change, CreateOptions, RecordService } from './record-service.ts';

/** What a service works with. */
export interface ServiceParts<R extends EntityFields, Repo> {
  readonly model: RecordModel<R>;
  readonly repository: Repo;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  /** The custom fields that lists can be filtered by. */
  readonly customFilters?: CustomFilterFields | undefined;
  /** The caller; absent for an embedder, which may do everything. */
  readonly caller?: Caller | undefined;
}

/** What makes a service one of users, or of posts. */
export interface ServiceRules<Sort extends string> extends ListRules<Sort> {
  readonly resource: Collection;
  readonly notFound: 'user-not-found' | 'post-not-found';
}

/** What {@link RecordService} says, done. */
export abstract class UseCases<
  R extends EntityFields,
  Input extends object,
  Patch extends object,
  Filter extends EntityFilter,
  Sort extends string,
  Repo extends Repository<R, Filter, Sort | 'createdAt'>,
> implements RecordService<R, Input, Patch, Filter, Sort>
{
  protected readonly repository: Repo;
  protected readonly access: Access | undefined;
  readonly #rules: ServiceRules<Sort>;
  readonly #model: RecordModel<R>;
  readonly #clock: Clock;
  readonly #ids: IdGenerator;
  /** The last text of the clock that was found to be an instant: to look at each costs 0.7 µs. */
  #instant: Instant | undefined;

  constructor(parts: ServiceParts<R, Repo>, rules: ServiceRules<Sort>) {
    const { model, repository, clock, ids, customFilters, caller } = parts;
    this.repository = repository;
    this.access = caller && new Access(caller, rules.resource);
    const order = defaultOrder(rules.resource, caller);
    this.#rules = { ...rules, custom: customFilters, defaultOrder: order };
    this.#model = model;
    this.#clock = clock;
    this.#ids = ids;
  }

  async create(input: Input, options: CreateOptions = {}): Promise<Creation<R>> {
    this.access?.checkCreate();
    const now = this.now();
    const receipt = this.#receipt(input, options, now);
    // What is thrown before it is awaited would leave its rejection to end the process.
    receipt?.catch(() => undefined);
    const given = this.access === undefined ? input : this.access.withAuthor(input);
    // Before the store: a replay is for as long as the caller may make it.
    this.access?.checkInput(given);
    return this.#complete(
      () => input,
      async () => {
        // Made before anything is awaited: what the caller does to its input later is not stored.
        const record = this.#model.make(given, this.#newId(), now);
        const once = receipt && (await receipt);
        return this.repository.create(record, once).catch((error: unknown) => {
          if (!isUnknownAuthor(error) || !this.access?.isAuthorOf(record)) throw error;
          // A caller that is no user: it did not send the author that is unknown.
          if (!this.access.mayHaveNoAuthor || given === input) throw noUserYet(this.access.caller);
          return this.repository.create({ ...record, authorId: null }, once);
        });
      },
    );
  }

  async get(id: Id): Promise<Versioned<R>> {
    checkId(id);
    this.access?.checkRead(id);
    const stored = this.#found(id, await this.repository.get(id));
    this.#checkSeen(id, stored, this.now());
    return stored;
  }

  list(
    request: PartialListRequest<Filter, Sort>,
  ): Promise<Page<Pick<R, 'id'> & { readonly [K in keyof R]?: R[K] | undefined }>>;
  list(request?: ListRequest<Filter, Sort>): Promise<Page<R>>;
  async list(request: ListRequest<Filter, Sort> = {}): Promise<Page<R>> {
    const asked = this.asked(request);
    this.access?.checkRead();
    return this.page({ ...asked, filter: this.seen(asked.filter) });
  }

  async *all(request: Omit<ListRequest<Filter, Sort>, 'total'> = {}): AsyncGenerator<Versioned<R>> {
    let page = await this.list(request);
    for (;;) {
      yield* page.items;
      if (page.next === undefined) return;
      page = await this.list({ ...request, after: page.next });
    }
  }

  async replace(id: Id, input: Input, precondition: Precondition = {}): Promise<Change<R>> {
    return this.#change(id, precondition, () => input);
  }

  async patch(id: Id, patch: Patch, precondition: Precondition = {}): Promise<Change<R>> {
    return this.#change(id, precondition, () => patch, 'patch');
  }

  async update(
    id: Id,
    change: (record: R) => Input,
    precondition: Precondition = {},
  ): Promise<Change<R>> {
    if (typeof change !== 'function') throw new TypeError('The change must be a function.');
    // A copy: a function that mutates its argument must not hide its change.
    return this.#change(id, precondition, (record) => {
      const input = change(copyJson(record));
      checkSynchronous(input, 'The change');
      return input;
    });
  }

  /**
   * The methods as properties of one object's own: they need no `this`, a spread has them, and a Proxy
   * may stand before them. A class has them on its prototype, and its private fields know no Proxy.
   */
  protected shared(): RecordService<R, Input, Patch, Filter, Sort> {
    return {
      create: (input, options) => this.create(input, options),
      get: (id) => this.get(id),
      // One function for both of its signatures.
      list: (request?: ListRequest<Filter, Sort>) => this.list(request) as Promise<Page<never>>,
      all: (request) => this.all(request),
      replace: (id, input, precondition) => this.replace(id, input, precondition),
      patch: (id, patch, precondition) => this.patch(id, patch, precondition),
      update: (id, change, precondition) => this.update(id, change, precondition),
    };
  }

  /** The request with its defaults, checked. */
  protected asked(request: ListRequest<Filter, Sort>): PageRequest<Filter, Sort | 'createdAt'> {
    return pageRequest(request, this.#rules);
  }

  /** A page of records that have the fields that are asked for. */
  protected async page(asked: PageRequest<Filter, Sort | 'createdAt'>): Promise<Page<R>> {
    asked.signal?.throwIfAborted();
    const page = await this.repository.list(asked);
    const { fields } = asked;
    return fields === undefined || page.isProjected ? page : withFields(page, fields);
  }

  /** The filter that has what the caller sees alone. */
  protected seen(filter: Filter): Filter {
    return filter;
  }

  /**
   * Further issues of an invalid input, which only the store can know. None of users: a taken
   * address is a conflict, reported when everything else is valid.
   */
  protected async issuesFromStore(_input: unknown): Promise<readonly FieldIssue[]> {
    return [];
  }

  protected now(): Instant {
    const now = this.#clock.now();
    if (this.#instant !== undefined && now === this.#instant) return now;
    checkSynchronous(now, 'The clock');
    if (!isInstant(now)) {
      throw new TypeError('The clock must return an instant like 2026-11-21T09:30:00.000Z.');
    }
    this.#instant = now;
    return now;
  }

  /** @throws RostrumError as where there is no record, or `forbidden` */
  protected checkChange(id: Id, current: Versioned<R>, now: Instant): void {
    this.#checkSeen(id, current, now);
    this.access?.checkChange(current.record);
  }

  #checkSeen(id: Id, current: Versioned<R>, now: Instant): void {
    // Most see all, and the record may be long to parse.
    if (this.access === undefined || this.access.seesAll) return;
    if (!this.access.sees(current.record, now)) throw this.notFound(id);
  }

  protected notFound(id: Id): RostrumError {
    this.access?.checkMissing(id);
    return new RostrumError(this.#rules.notFound, { id });
  }

  async #change(
    id: Id,
    precondition: Precondition,
    inputOf: (record: R) => unknown,
    way?: 'replace' | 'patch',
  ): Promise<Change<R>> {
    const change = await this.changeIfThere(id, precondition, inputOf, way);
    if (change === undefined) throw this.notFound(id);
    return change;
  }

  /** A new record with an id that was not made here. */
  protected createWithId(input: unknown, id: Id): Promise<Creation<R>> {
    const record = () => this.#model.makeNamed(input, id, this.now());
    return this.#complete(
      () => input,
      async () => this.repository.create(record()),
    );
  }

  /** @returns undefined when there is no record with this id */
  protected async changeIfThere(
    id: Id,
    precondition: Precondition,
    inputOf: (record: R) => unknown,
    way: 'replace' | 'patch' = 'replace',
  ): Promise<Change<R> | undefined> {
    checkId(id);
    checkPreconditionOptions(precondition);
    this.access?.checkWrite();
    const now = this.now();
    let input: unknown;
    let changed = false;
    return this.#complete(
      () => input,
      async () => {
        const stored = await this.repository.update(id, (current) => {
          this.checkChange(id, current, now);
          checkPrecondition(precondition, current.version);
          const { record } = current; // Not before: it may be long to parse.
          input = inputOf(record);
          this.access?.checkAuthor(record, input, way);
          const next = this.#model[way](record, input, now);
          changed = next !== record;
          return next;
        });
        return stored && Object.assign(stored, { changed });
      },
    );
  }

  #receipt(input: unknown, options: CreateOptions, now: Instant): Promise<Receipt> | undefined {
    const { idempotencyKey, ...given } = checkOptions<CreateOptions>(options, [
      'idempotencyKey',
      'caller',
    ]);
    const caller = this.access?.caller.name ?? given.caller;
    if (caller !== undefined && typeof caller !== 'string') {
      throw new TypeError('The option "caller" must be a text.');
    }
    if (idempotencyKey === undefined) return undefined;
    if (typeof idempotencyKey !== 'string' || idempotencyKey === '') {
      throw new TypeError('The option "idempotencyKey" must be a text that is not empty.');
    }
    return makeReceipt({ idempotencyKey, caller }, this.#rules.resource, input, now);
  }

  #newId(): Id {
    const id = this.#ids.next();
    if (typeof id === 'string' && id !== '' && id !== itself && isCleanText(id)) return id;
    throw new TypeError(
      `The id generator must return texts that are not empty, and not "${itself}".`,
    );
  }

  /** Reports everything that is wrong in one error, with what only the store knows. */
  async #complete<T>(input: () => unknown, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (!isRostrumError(error, 'invalid-record')) throw error;
      const { issues } = error.details;
      const known = new Set(issues.map((issue) => issue.pointer));
      const more = (await this.issuesFromStore(input())).filter(
        (issue) => !known.has(issue.pointer),
      );
      if (more.length === 0) throw error;
      throw new RostrumError('invalid-record', {
        issues: [...issues, ...more].slice(0, maxIssues),
      });
    }
  }

  #found(id: Id, stored: Versioned<R> | undefined): Versioned<R> {
    if (stored === undefined) throw this.notFound(id);
    return stored;
  }
}

/** The page with these fields of its records alone. */
export function withFields<R extends object>(page: Page<R>, fields: readonly string[]): Page<R> {
  const items = page.items.map(({ record, version }) => {
    return new VersionedRecord(projected(record, fields), version);
  });
  return { ...page, items };
}

/** @throws RostrumError `forbidden` for one that can be no user */
function noUserYet(caller: Caller): RostrumError<'invalid-record'> {
  subjectOf(caller);
  const message = 'The caller is no user yet: it has to save itself first (PUT /users/me).';
  const issues = [{ pointer: '/authorId', code: 'unknown', message } as const];
  return new RostrumError('invalid-record', { issues });
}

/** @throws TypeError */
export function checkId(id: unknown): asserts id is Id {
  if (typeof id !== 'string') throw new TypeError('An id must be a text.');
}
