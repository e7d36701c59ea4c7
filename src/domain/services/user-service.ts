import type { DeleteMode, Deletion } from '../../ports/user-repository.ts';
import type { CustomFieldsInput } from '../custom-fields.ts';
import type { CustomFilterFields, CustomFilterOf } from '../custom-filters.ts';
import type { JsonObject } from '../json.ts';
import type { UserFilter, UserSort } from '../list.ts';
import type { Precondition } from '../precondition.ts';
import type { Id } from '../record.ts';
import type { User, UserInput, UserPatch } from '../user.ts';
import type { RecordService } from './record-service.ts';

/** What may become of the posts of a user who is deleted. */
export const deleteModes = ['refuse', 'delete', 'keep'] as const satisfies DeleteMode[];

export interface DeleteUserOptions extends Precondition {
  /** What becomes of the user's posts; `refuse` when absent. */
  readonly posts?: DeleteMode | undefined;
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
    UserSort
  > {
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
