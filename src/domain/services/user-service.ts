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
import type { UserFilter, UserSort } from '../lists/search.ts';
import type { JsonObject } from '../records/json.ts';
import type { Precondition } from '../records/precondition.ts';
import type { Id, Versioned } from '../records/record.ts';
import type { PublicUser, User, UserInput, UserPatch } from '../records/user.ts';
import type { Change, Listed, NamesIn, RecordService } from './record-service.ts';

/** Options of the deletion of a user. */
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
