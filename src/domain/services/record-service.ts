import type { Creation } from '../../ports/repository.ts';
import type { DeleteMode, Deletion } from '../../ports/user-repository.ts';
import type { CustomFieldsInput } from '../fields/custom-fields.ts';
import type { FieldDeclarations } from '../fields/declared-fields.ts';
import type {
  CustomInputOf,
  CustomOf,
  DeclaredFilterOf,
  DeclaredSortOf,
} from '../lists/declared-types.ts';
import type { Page } from '../lists/list.ts';
import type { ListRequest } from '../lists/list-request.ts';
import type { PostFilter, PostSort, SharedFilter, UserFilter, UserSort } from '../lists/search.ts';
import type { JsonObject } from '../records/json.ts';
import type { Post, PostInput, PostPatch } from '../records/post.ts';
import type { Precondition } from '../records/precondition.ts';
import type { CreateOptions } from '../records/receipt.ts';
import type { Id, ServerMadeFields, Versioned } from '../records/record.ts';
import type { PublicUser, User, UserInput, UserPatch } from '../records/user.ts';

/** No value has this type, so that a compiler error names the field. */
interface NoSuchField<Name> {
  readonly 'there is no such field': Name;
}

/** Rejects keys that no member of the union `Allowed` has. A value of the type `any` passes anyway. */
export type NoOther<T, Allowed> = {
  readonly [K in Exclude<keyof T, KeysOf<Allowed>>]: NoSuchField<K>;
};

type KeysOf<T> = T extends unknown ? keyof T : never;

/** Names of top-level fields; undefined for whole records. Any name, if the type of the custom fields is not known. */
export type NamesIn<R> =
  | readonly ([Exclude<KeysOf<R>, KnownName>] extends [never] ? string : string & KeysOf<R>)[]
  | undefined;

type KnownName = keyof User<object> | keyof Post<object>;

/** The id and some other fields of a record. */
export type PartialRecord<R extends Pick<ServerMadeFields, 'id'>> = Pick<R, 'id'> & {
  readonly [K in keyof R]?: R[K] | undefined;
};

/** A record of a list: whole, or with only the requested fields. */
export type Listed<R extends Pick<ServerMadeFields, 'id'>, Fields> = [Fields] extends [undefined]
  ? R
  : PartialRecord<R>;

export interface Created<R> extends Creation<R> {
  readonly id: Id;
}

/** The result of a call that changes a record: the record as it is now stored. */
export interface Change<R> extends Versioned<R> {
  /** False if the record already had this content: then nothing was written. */
  readonly changed: boolean;
}

/**
 * The use cases that users and posts have in common, one method each.
 *
 * The methods need no `this`, and all of them are own properties, so you can destructure or spread the object.
 * No method calls another one: if you wrap `list`, wrap `all` as well. Do not modify an input before the
 * promise of the call has settled.
 */
export interface RecordService<
  R extends ServerMadeFields,
  Input extends object,
  Patch extends object,
  Filter extends SharedFilter,
  Sort extends string,
> {
  /**
   * Creates a record. With an idempotency key, a repeat of the same input within 24 hours creates
   * nothing and returns the record as it was first created.
   *
   * @throws RostrumError `idempotency-key-reused`, `invalid-record`, `email-taken`, `field-taken`
   */
  create(input: Input, options?: CreateOptions): Promise<Created<R>>;

  /** @throws RostrumError `user-not-found` or `post-not-found` */
  get(id: Id): Promise<Versioned<R>>;

  /**
   * Returns a page of the matching records, by default the newest first. It can be shorter than `limit` if
   * its records are large: only `next` says whether more follow.
   *
   * @throws TypeError or RangeError for an invalid request
   */
  list<const Fields extends NamesIn<R> = undefined>(
    request?: ListRequest<Filter, Sort, Fields>,
  ): Promise<Page<Listed<R, Fields>>>;

  /**
   * Iterates over all matching records, page by page. Yields a record that exists throughout, with an
   * unchanged sort key, exactly once.
   *
   * @param request `limit` is the number of records to read at a time
   * @throws like {@link list}
   */
  all<const Fields extends NamesIn<R> = undefined>(
    request?: Omit<ListRequest<Filter, Sort, Fields>, 'after' | 'total'>,
  ): AsyncGenerator<Versioned<Listed<R, Fields>>>;

  /**
   * Replaces a whole record: fields that the input leaves out are removed.
   *
   * @throws RostrumError `user-not-found` or `post-not-found`, `precondition-required`,
   * `version-mismatch`, `invalid-record`, `email-taken`, `field-taken`
   */
  replace(id: Id, input: Input, precondition?: Precondition): Promise<Change<R>>;

  /**
   * Applies a JSON merge patch (RFC 7396).
   *
   * @throws RostrumError like {@link replace}
   */
  patch(id: Id, patch: Patch, precondition?: Precondition): Promise<Change<R>>;

  /**
   * Replaces a record with the result of a function, in one atomic step.
   *
   * @param change pure and synchronous; it can run again if another caller changed the record meanwhile.
   * If it throws, the call fails with that error and nothing is changed.
   * @throws RostrumError like {@link replace}
   */
  update<T extends Input>(
    id: Id,
    change: (record: R) => T & NoOther<T, Input>,
    precondition?: Precondition,
  ): Promise<Change<R>>;
}

export interface DeleteUserOptions extends Precondition {
  /** What happens to the user's posts; by default `refuse`. */
  readonly posts?: DeleteMode | undefined;
}

/** The result of a call that replaces a record or creates it. */
export interface Saved<R> extends Change<R> {
  readonly created: boolean;
}

/** The use cases of users, one method each. */
export interface UserService<
  Custom extends object = JsonObject,
  Input extends object = CustomFieldsInput,
  Fields = FieldDeclarations,
> extends RecordService<
    User<CustomOf<Custom, Fields>>,
    UserInput<CustomInputOf<Input, Fields>>,
    UserPatch<CustomInputOf<Input, Fields>>,
    UserFilter<DeclaredFilterOf<Fields>>,
    UserSort | DeclaredSortOf<Fields>
  > {
  /**
   * Returns a user in the public view, for callers who have only the scope `users:read:public`.
   *
   * @throws RostrumError `user-not-found`
   */
  getPublic(id: Id): Promise<Versioned<PublicUser<CustomOf<Custom, Fields>>>>;

  /**
   * Returns a page of users in the public view, like `list`. Filters and orders can use only its fields.
   *
   * @throws RostrumError `forbidden` for a filter or an order by another field
   */
  listPublic<const Names extends NamesIn<PublicUser<CustomOf<Custom, Fields>>> = undefined>(
    request?: ListRequest<
      UserFilter<DeclaredFilterOf<Fields>>,
      UserSort | DeclaredSortOf<Fields>,
      Names
    >,
  ): Promise<Page<Listed<PublicUser<CustomOf<Custom, Fields>>, Names>>>;

  /**
   * Replaces the caller's own user, or creates it with the caller's subject as its id.
   *
   * @param precondition with `only`, nothing is created; with `except: 'any'`, nothing is replaced
   * @throws RostrumError like {@link replace}
   * @throws RostrumError `forbidden` for a caller without a subject, or with one that can't be an id
   */
  saveOwn(
    input: UserInput<CustomInputOf<Input, Fields>>,
    precondition?: Precondition,
  ): Promise<Saved<User<CustomOf<Custom, Fields>>>>;

  /**
   * Deletes a user. Their posts prevent it (`refuse`), are deleted too (`delete`), or stay without an
   * author (`keep`), in one atomic step.
   *
   * @returns how many posts were deleted or changed with the user
   * @throws RostrumError `user-not-found`, `precondition-required`, `version-mismatch`,
   * `user-has-posts`, `refused`
   */
  delete(id: Id, options?: DeleteUserOptions): Promise<Deletion>;
}

export interface PageWithAuthors<R> extends Page<R> {
  readonly users: readonly Versioned<PublicUser>[];
}

/** The use cases of posts, one method each. */
export interface PostService<
  Custom extends object = JsonObject,
  Input extends object = CustomFieldsInput,
  Fields = FieldDeclarations,
> extends RecordService<
    Post<CustomOf<Custom, Fields>>,
    PostInput<CustomInputOf<Input, Fields>>,
    PostPatch<CustomInputOf<Input, Fields>>,
    PostFilter<DeclaredFilterOf<Fields>>,
    PostSort | DeclaredSortOf<Fields>
  > {
  /**
   * Returns a page of posts like `list`, and the authors of its posts, each once, in the public view. That
   * is a second read, so an author who was deleted meanwhile can be missing.
   *
   * @param request with `fields`, each post has its `authorId` too
   */
  listWithAuthors<const Names extends NamesIn<Post<CustomOf<Custom, Fields>>> = undefined>(
    request?: ListRequest<
      PostFilter<DeclaredFilterOf<Fields>>,
      PostSort | DeclaredSortOf<Fields>,
      Names
    >,
  ): Promise<PageWithAuthors<Listed<Post<CustomOf<Custom, Fields>>, Names>>>;

  /**
   * Deletes a post.
   *
   * @throws RostrumError `post-not-found`, `precondition-required`, `version-mismatch`
   */
  delete(id: Id, precondition?: Precondition): Promise<void>;
}
