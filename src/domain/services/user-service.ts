import type { UserRepository } from '../../ports/user-repository.ts';
import { type RostrumError, userNotFound } from '../errors.ts';
import type { FieldIssue } from '../issues.ts';
import { type UserFilter, type UserSort, userSorts } from '../page.ts';
import { withoutAuthor } from '../post.ts';
import { checkPrecondition, type Precondition } from '../precondition.ts';
import type { Id } from '../record.ts';
import type { User } from '../user.ts';
import { RecordService } from './record-service.ts';

/** What becomes of the posts of a user who is deleted. */
export const deleteModes = ['refuse', 'delete', 'keep'] as const;
export type DeleteMode = (typeof deleteModes)[number];

export class UserService extends RecordService<User, UserFilter, UserSort, UserRepository> {
  /**
   * Deletes a user. Posts of theirs are in the way (`refuse`), are deleted too (`delete`) or stay
   * without an author (`keep`); either is one step.
   *
   * @throws RostrumError `user-not-found`, `precondition-required`, `version-mismatch`,
   * `user-has-posts`
   */
  async delete(
    id: Id,
    posts: DeleteMode = 'refuse',
    precondition: Precondition = {},
  ): Promise<void> {
    const now = this.clock.now();
    const deleted = await this.repository.delete(
      id,
      posts === 'keep' ? { posts, release: ({ record }) => withoutAuthor(record, now) } : { posts },
      ({ version }) => checkPrecondition(precondition, version),
    );
    if (!deleted) throw this.notFound(id);
  }

  protected override readonly sorts = userSorts;

  protected override notFound(id: Id): RostrumError {
    return userNotFound(id);
  }

  /** Nothing: that an email address is taken is a conflict, and answered when all else is right. */
  protected override async alsoWrong(): Promise<readonly FieldIssue[]> {
    return [];
  }
}
