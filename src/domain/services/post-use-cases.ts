import type { PostRepository } from '../../ports/post-repository.ts';
import type { UserRepository } from '../../ports/user-repository.ts';
import type { CustomFieldsInput } from '../custom-fields.ts';
import { unknownAuthorIssue } from '../errors.ts';
import type { FieldIssue } from '../issues.ts';
import { isPlainObject, type JsonObject } from '../json.ts';
import { type PostFilter, type PostSort, postSorts } from '../list.ts';
import type { ListRequest } from '../list-request.ts';
import type { Post, PostInput, PostPatch } from '../post.ts';
import { checkPrecondition, checkPreconditionOptions, type Precondition } from '../precondition.ts';
import type { EntityFields, Id, Versioned } from '../record.ts';
import type { PublicUser } from '../user.ts';
import { maxLimitWithAuthors, type PageWithAuthors, type PostService } from './post-service.ts';
import { checkId, type ServiceParts, UseCases } from './use-cases.ts';

export interface PostServiceParts<R extends EntityFields>
  extends ServiceParts<R, PostRepository<R>> {
  readonly users: Pick<UserRepository, 'get'>;
  /** The public view of users. */
  readonly authors: (
    ids: readonly Id[],
    signal?: AbortSignal,
  ) => Promise<readonly Versioned<PublicUser>[]>;
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
  readonly #authors: PostServiceParts<Post<Custom>>['authors'];

  constructor(parts: PostServiceParts<Post<Custom>>) {
    super(parts, {
      resource: 'posts',
      notFound: 'post-not-found',
      sorts: postSorts,
      filters: {
        ...{ title: 'text', titleStartsWith: 'prefix' },
        ...{ authorId: 'text or null', publishedAt: 'span or null' },
      },
    });
    this.#users = parts.users;
    this.#authors = parts.authors;
  }

  service(): PostService<Custom, Input> {
    return {
      ...this.shared(),
      listWithAuthors: (request) => this.listWithAuthors(request),
      delete: (id, precondition) => this.delete(id, precondition),
    };
  }

  async listWithAuthors(
    request: ListRequest<PostFilter, PostSort> = {},
  ): Promise<PageWithAuthors<Post<Custom>>> {
    this.asked(request);
    const { limit = maxLimitWithAuthors } = request;
    if (limit > maxLimitWithAuthors) {
      throw new RangeError(`With authors, the limit must be at most ${maxLimitWithAuthors}.`);
    }
    const page = await this.list({ ...request, limit });
    const ids = new Set(page.items.flatMap(({ record }) => record.authorId ?? []));
    const users = ids.size === 0 ? [] : await this.#authors([...ids], request.signal);
    return { ...page, users };
  }

  protected override seen(filter: PostFilter): PostFilter {
    return this.access?.seen(filter, this.now()) ?? filter;
  }

  async delete(id: Id, precondition: Precondition = {}): Promise<void> {
    checkId(id);
    checkPreconditionOptions(precondition);
    this.access?.checkWrite();
    const now = this.now();
    const deleted = await this.repository.delete(id, (current) => {
      this.checkChange(id, current, now);
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
