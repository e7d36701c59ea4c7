import type { DeleteMode, Deletion } from '../../ports/user-repository.ts';
import type { CustomFieldsInput } from '../custom-fields.ts';
import type { CustomFilterOf, CustomSortOf } from '../custom-filters.ts';
import type { CustomFilterFields } from '../declared-fields.ts';
import type { JsonObject } from '../json.ts';
import type { Page } from '../list.ts';
import type { ListRequest } from '../list-request.ts';
import type { Precondition } from '../precondition.ts';
import type { Id, Versioned } from '../record.ts';
import type { UserFilter, UserSort } from '../search.ts';
import type { PublicUser, User, UserInput, UserPatch } from '../user.ts';
import type { Change, RecordService } from './record-service.ts';

/** What may become of the posts of a user who is deleted. */
export const deleteModes = ['refuse', 'delete', 'keep'] as const satisfies DeleteMode[];

export interface DeleteUserOptions extends Precondition {
  /** What becomes of the user's posts; `refuse` when absent. */
  readonly posts?: DeleteMode | undefined;
}

/** What a call left that replaces a record or makes it. */
export interface Saved<R> extends Change<R> {
  readonly created: boolean;
}

/** What can be done with users, one method a use case. */
export interface UserService<
  Custom extends object = JsonObject,
  Input extends object = CustomFieldsInput,
  Fields = CustomFilterFields,
> extends RecordService<
    User<Custom>,
    UserInput<Input>,
    UserPatch<Input>,
    UserFilter<CustomFilterOf<Fields>>,
    UserSort | CustomSortOf<Fields>
  > {
  /**
   * One user in the public view: what a caller may see that has the scope `users:read:public` alone.
   *
   * @throws RostrumError `user-not-found`
   */
  getPublic(id: Id): Promise<Versioned<PublicUser<Custom>>>;

  /**
   * A page of users in the public view, as `list`. Filters and orders look at what it shows alone.
   *
   * @throws RostrumError `forbidden` for a filter or an order by another field
   */
  listPublic(
    request?: ListRequest<UserFilter, UserSort> & { readonly fields?: readonly string[] },
  ): Promise<Page<PublicUser<Custom>>>;

  /**
   * Replaces the user that the caller is, or makes it, with the caller's subject for its id.
   *
   * @param precondition with `only`, nothing is made; with `except: 'any'`, nothing is replaced
   * @throws RostrumError as `replace`, or `id-taken`: the user was deleted, and no id is given twice
   * @throws RostrumError `forbidden` for a caller without a subject, or one that can be no id
   */
  saveItself(input: UserInput<Input>, precondition?: Precondition): Promise<Saved<User<Custom>>>;

  /**
   * Deletes a user. Their posts prevent it (`refuse`), are deleted too (`delete`), or stay without an
   * author (`keep`), in one atomic step.
   *
   * @returns how many posts were deleted or changed with the user
   * @throws RostrumError `user-not-found`, `precondition-required`, `version-mismatch`,
   * `user-has-posts`
   */
  delete(id: Id, options?: DeleteUserOptions): Promise<Deletion>;
}
