import type { PostRepository } from '../../ports/post-repository.ts';
import type { UserRepository } from '../../ports/user-repository.ts';
import type { CustomFieldsInput } from '../custom-fields.ts';
import { unknownAuthorIssue } from '../errors.ts';
import type { FieldIssue } from '../issues.ts';
import { isPlainObject, type JsonObject } from '../json.ts';
import { type PostFilter, type PostSort, postSorts } from '../list.ts';
import type { Post, PostInput, PostPatch } from '../post.ts';
import { checkPrecondition, checkPreconditionOptions, type Precondition } from '../precondition.ts';
import type { EntityFields, Id } from '../record.ts';
import type { PostService } from './post-service.ts';
import { checkId, type ServiceParts, UseCases } from './use-cases.ts';

export interface PostServiceParts<R extends EntityFields>
  extends ServiceParts<R, PostRepository<R>> {
  readonly users: Pick<UserRepository, 'get'>;
}

export class PostUseCases<
  Custom extends object = JsonObject,
  Input extends object = CustomFieldsInput,
> extends UseCases<
  Post<Custom>,
  PostInput<Input>,
  PostPatch<Input>,
  PostFilter,
  PostSort,
  PostRepository<Post<Custom>>
> {
  readonly #users: Pick<UserRepository, 'get'>;

  constructor(parts: PostServiceParts<Post<Custom>>) {
    super(parts, {
      resource: 'posts',
      notFound: 'post-not-found',
      sorts: postSorts,
      filters: { title: 'text', authorId: 'text or null' },
    });
    this.#users = parts.users;
  }

  service(): PostService<Custom, Input> {
    return {
      ...this.shared(),
      delete: (id, precondition) => this.delete(id, precondition),
    };
  }

  async delete(id: Id, precondition: Precondition = {}): Promise<void> {
    checkId(id);
    checkPreconditionOptions(precondition);
    this.access?.checkWrite();
    const deleted = await this.repository.delete(id, (current) => {
      this.access?.checkChange(current.record);
      checkPrecondition(precondition, current.version);
    });
    if (!deleted) throw this.notFound(id);
  }

  /** An author who does not exist is listed beside the fields that break a rule of their own. */
  protected override async issuesFromStore(input: unknown): Promise<readonly FieldIssue[]> {
    const author = isPlainObject(input) ? input.authorId : null;
    if (typeof author !== 'string') return [];
    return (await this.#users.get(author)) === undefined ? [unknownAuthorIssue] : [];
  }
}
