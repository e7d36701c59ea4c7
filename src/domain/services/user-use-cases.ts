import type { Deletion, UserRepository } from '../../ports/user-repository.ts';
import type { CustomFieldsInput } from '../custom-fields.ts';
import { isRostrumError, RostrumError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { type UserFilter, type UserSort, userSorts } from '../list.ts';
import { checkPrecondition, checkPreconditionOptions } from '../precondition.ts';
import type { Id, Versioned } from '../record.ts';
import type { User, UserInput, UserPatch } from '../user.ts';
import { checkId, type ServiceParts, UseCases } from './use-cases.ts';
import { type DeleteUserOptions, deleteModes, type UserService } from './user-service.ts';

export class UserUseCases<
  Custom extends object = JsonObject,
  Input extends object = CustomFieldsInput,
> extends UseCases<
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
      filters: { name: 'text', email: 'text' },
    });
  }

  service(): UserService<Custom, Input> {
    return { ...this.shared(), delete: (id, options) => this.delete(id, options) };
  }

  async delete(id: Id, options: DeleteUserOptions = {}): Promise<Deletion> {
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
      const deletion = await this.repository.delete(id, posts, this.now(), guard);
      if (deletion === undefined) throw this.notFound(id);
      return deletion;
    } catch (error) {
      const mayCount = this.access === undefined || this.access.caller.scopes.has('posts:read');
      if (mayCount || !isRostrumError(error, 'user-has-posts')) throw error;
      throw new RostrumError('user-has-posts', {});
    }
  }
}
