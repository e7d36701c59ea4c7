import type { Creation } from '../../ports/repository.ts';
import type { Page } from '../list.ts';
import type { ListRequest, PartialListRequest } from '../list-request.ts';
import type { Precondition } from '../precondition.ts';
import type { EntityFields, Id, Versioned } from '../record.ts';
import type { EntityFilter } from '../search.ts';

/** Options of a creation: none, or what makes it safe to repeat. */
export interface CreateOptions {
  /** Names the creation, for its caller, among users or among posts. */
  readonly idempotencyKey?: string | undefined;
  /** The name of the caller; all are one caller when absent. A bound service has its own. */
  readonly caller?: string | undefined;
}

/** What no value is, so that the error of a compiler names the field. */
interface NoSuchField<Name> {
  readonly 'there is no such field': Name;
}

/** Refuses the keys that no arm of `Allowed` has. A value of the type `any` passes all the same. */
export type NoOther<T, Allowed> = {
  readonly [K in Exclude<keyof T, KeysOf<Allowed>>]: NoSuchField<K>;
};

type KeysOf<T> = T extends unknown ? keyof T : never;

/** The id and some other fields of a record. */
type PartialRecord<R extends EntityFields> = Pick<R, 'id'> & {
  readonly [K in keyof R]?: R[K] | undefined;
};

/** What a call that changes a record left: the record as it is now stored. */
export interface Change<R> extends Versioned<R> {
  /** False when the record already was what it should become: then nothing was written. */
  readonly changed: boolean;
}

/**
 * The use cases that users and posts have in common, one method each.
 *
 * The methods are properties of the object's own and need no `this`: each may be taken off it, and
 * a spread of it has all of them. None calls another one: what is put around `list` has to be put
 * around `all` as well.
 */
export interface RecordService<
  R extends EntityFields,
  Input extends object,
  Patch extends object,
  Filter extends EntityFilter<object>,
  Sort extends string,
> {
  /**
   * Makes a record. With an idempotency key, a repeat of the same input within 24 hours makes
   * nothing and returns the record as it was first made.
   *
   * @throws RostrumError `idempotency-key-reused`, `invalid-record`, `email-taken`
   */
  create(input: Input, options?: CreateOptions): Promise<Creation<R>>;

  /** @throws RostrumError `user-not-found` or `post-not-found` */
  get(id: Id): Promise<Versioned<R>>;

  /**
   * A page of the records that match, the newest first when no order is given. It may end before
   * `limit`, where its records are large: only `next` tells whether more follow.
   *
   * @throws TypeError or RangeError for what no list can be asked for
   */
  list(request: PartialListRequest<Filter, Sort>): Promise<Page<PartialRecord<R>>>;
  list(request?: ListRequest<Filter, Sort>): Promise<Page<R>>;

  /**
   * All records that match, page by page.
   *
   * What is there throughout, with its sort key unchanged, is met exactly once.
   *
   * @param request `limit` is the number of records that are read at a time
   * @throws as {@link list}
   */
  all(request?: Omit<ListRequest<Filter, Sort>, 'total'>): AsyncGenerator<Versioned<R>>;

  /**
   * Replaces a whole record; what the input leaves out is gone.
   *
   * @throws RostrumError `user-not-found` or `post-not-found`, `precondition-required`,
   * `version-mismatch`, `invalid-record`, `email-taken`
   */
  replace(id: Id, input: Input, precondition?: Precondition): Promise<Change<R>>;

  /**
   * Changes what a JSON merge patch (RFC 7396) names.
   *
   * @throws RostrumError as {@link replace}
   */
  patch(id: Id, patch: Patch, precondition?: Precondition): Promise<Change<R>>;

  /**
   * Replaces a record by what a function makes of it, in one atomic step.
   *
   * @param change pure and synchronous; it may run again, when another caller changed the record
   * meanwhile. What it throws ends the call and nothing is changed.
   * @throws RostrumError as {@link replace}
   */
  update<T extends Input>(
    id: Id,
    change: (record: R) => T & NoOther<T, Input>,
    precondition?: Precondition,
  ): Promise<Change<R>>;
}
