import type { PostRepository } from '../../ports/post-repository.ts';
import type { UserRepository } from '../../ports/user-repository.ts';
import { postNotFound, type RostrumError, unknownAuthorIssue } from '../errors.ts';
import type { FieldIssue } from '../issues.ts';
import { isPlainObject } from '../json.ts';
import { type PostFilter, type PostSort, postSorts } from '../page.ts';
import type { Post } from '../post.ts';
import { checkPrecondition, type Precondition } from '../precondition.ts';
import type { Id } from '../record.ts';
import { RecordService, type ServiceParts } from './record-service.ts';

export interface PostServiceParts extends ServiceParts<Post, PostRepository> {
  readonly users: Pick<UserRepository, 'get'>;
}

export class PostService extends RecordService<Post, PostFilter, PostSort, PostRepository> {
  readonly #users: Pick<UserRepository, 'get'>;

  constructor(parts: PostServiceParts) {
    super(parts);
    this.#users = parts.users;
  }

  /**
   * Deletes a post.
   *
   * @throws RostrumError `post-not-found`, `precondition-required`, `version-mismatch`
   */
  async delete(id: Id, precondition: Precondition = {}): Promise<void> {
    const deleted = await this.repository.delete(id, ({ version }) =>
      checkPrecondition(precondition, version),
    );
    if (!deleted) throw this.notFound(id);
  }

  protected override readonly sorts = postSorts;

  protected override notFound(id: Id): RostrumError {
    return postNotFound(id);
  }

  /** An author who does not exist is listed beside the fields that break a rule of their own. */
  protected override async alsoWrong(input: unknown): Promise<readonly FieldIssue[]> {
    const author = isPlainObject(input) ? input.authorId : null;
    if (typeof author !== 'string') return [];
    return (await this.#users.get(author)) === undefined ? [unknownAuthorIssue] : [];
  }
}
