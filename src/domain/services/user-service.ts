import type { DeleteMode, UserRepository } from '../../ports/user-repository.ts';
import type { CustomFieldsInput } from '../custom-fields.ts';
import { isRostrumError, RostrumError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { type UserFilter, type UserSort, userSorts } from '../list.ts';
import { checkPrecondition, checkPreconditionOptions, type Precondition } from '../precondition.ts';
import type { Id, Versioned } from '../record.ts';
import type { User, UserInput, UserPatch } from '../user.ts';
import { checkId, RecordService, type ServiceParts } from './record-service.ts';

/** What may become of the posts of a user who is deleted. */
export const deleteModes = ['refuse', 'delete', 'keep'] as const satisfies DeleteMode[];

export interface DeleteUserOptions extends Precondition {
  /** What becomes of the user's posts; `refuse` when absent. */
  readonly posts?: DeleteMode | undefined;
}

export class UserService<
  Custom extends object = JsonObject,
  Input extends object = CustomFieldsInput,
> extends RecordService<
  User<Custom>,
  UserInput<Input>,
  UserPatch<Input>,
  UserFilter,
  UserSort,
  UserRepository<User<Custom>>
> {
  constructor(parts: ServiceParts<User<Custom>, UserRepository<User<Custom>>>) {
    super(parts, {
      resource: 'users',
      notFound: 'user-not-found',
      sorts: userSorts,
      filters: { name: 'text', email: 'text', nameStartsWith: 'prefix', emailStartsWith: 'prefix' },
    });
  }

  /**
   * Deletes a user. Their posts prevent it (`refuse`), are deleted too (`delete`), or stay without an
   * author (`keep`), in one atomic step.
   *
   * @throws RostrumError `user-not-found`, `precondition-required`, `version-mismatch`,
   * `user-has-posts`
   */
  async delete(id: Id, options: DeleteUserOptions = {}): Promise<void> {
    checkId(id);
    checkPreconditionOptions(options, 'posts');
    const { posts = 'refuse' } = options;
    if (!deleteModes.includes(posts)) {
      throw new RangeError(`The option "posts" must be one of ${deleteModes.join(', ')}.`);
    }
    this.access?.checkWrite();
    if (posts !== 'refuse') this.access?.checkPostsOf(id);
    const guard = (current: Versioned<User<Custom>>): void => {
      this.access?.checkChange(current.record);
      checkPrecondition(options, current.version);
    };
    try {
      if (!(await this.repository.delete(id, posts, this.now(), guard))) throw this.notFound(id);
    } catch (error) {
      const mayCount = this.access === undefined || this.access.caller.scopes.has('posts:read');
      if (mayCount || !isRostrumError(error, 'user-has-posts')) throw error;
      throw new RostrumError('user-has-posts', {});
    }
  }
}
