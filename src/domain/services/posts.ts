import type { PostRepository } from '../../ports/post-repository.ts';
import type { Creation } from '../../ports/repository.ts';
import { subjectOf } from '../access.ts';
import type { Caller } from '../caller.ts';
import { isUnknownAuthor, RostrumError } from '../errors.ts';
import { checkRequest, type ListRequest } from '../list-request.ts';
import type { Post } from '../post.ts';
import { checkPreconditionOptions, type Precondition } from '../precondition.ts';
import type { Id, Versioned } from '../record.ts';
import type { PostFilter } from '../search.ts';
import { isCleanText } from '../text.ts';
import type { PublicUser } from '../user.ts';
import { maxLimitWithAuthors, type PageWithAuthors, type PostService } from './post-service.ts';
import type { CreateOptions } from './record-service.ts';
import {
  allRecords,
  checkChange,
  checkId,
  createRecord,
  getRecord,
  listRecords,
  listRules,
  notFound,
  patchRecord,
  type RecordContext,
  replaceRecord,
  updateRecord,
} from './records.ts';

export interface PostContext extends RecordContext<Post, PostRepository> {
  /** Reads users in the public view. */
  readonly authors: (
    ids: readonly Id[],
    signal?: AbortSignal,
  ) => Promise<readonly Versioned<PublicUser>[]>;
}

/** Binds the use cases of posts to a context. */
export function postService(context: PostContext): PostService {
  return {
    create: (input, options) => createPost(context, input, options),
    get: (id) => getRecord(context, id),
    list: (request?: ListRequest<PostFilter, string>) => listRecords(context, request),
    all: (request) => allRecords(context, request),
    listWithAuthors: (request) => listPostsWithAuthors(context, request),
    replace: (id, input, precondition) => replaceRecord(context, id, input, precondition),
    patch: (id, patch, precondition) => patchRecord(context, id, patch, precondition),
    update: (id, change, precondition) => updateRecord(context, id, change, precondition),
    delete: (id, precondition) => deletePost(context, id, precondition),
  };
}

/** A post that names no author gets the caller's own user as its author. */
async function createPost(
  context: PostContext,
  input: unknown,
  options?: CreateOptions,
): Promise<Creation<Post>> {
  const { access, repository } = context;
  access?.checkWrite();
  const given = access === undefined ? input : access.withAuthor(input);
  // Check permissions before replaying: the caller may have lost the scope since.
  access?.checkInput(given);
  return createRecord(context, input, options, given, async (post, receipt) => {
    try {
      return await repository.create(post, receipt);
    } catch (error) {
      if (!isUnknownAuthor(error) || !access?.isAuthorOf(post)) throw error;
      // The caller has no user yet. It may have named itself, or be allowed to write only its own posts.
      if (given === input || !access.mayHaveNoAuthor) throw noUserYet(access.caller);
      return repository.create({ ...post, authorId: null }, receipt);
    }
  });
}

async function listPostsWithAuthors(
  context: PostContext,
  request: ListRequest<PostFilter, string> = {},
): Promise<PageWithAuthors<Post>> {
  checkRequest(request, listRules(context));
  const { limit = maxLimitWithAuthors, signal } = request;
  if (limit > maxLimitWithAuthors) {
    throw new RangeError(`With authors, the limit must be at most ${maxLimitWithAuthors}.`);
  }
  const page = await listRecords(context, { ...request, limit });
  const ids = new Set(page.items.flatMap(({ record }) => record.authorId ?? []));
  return { ...page, users: ids.size === 0 ? [] : await context.authors([...ids], signal) };
}

async function deletePost(
  context: PostContext,
  id: Id,
  precondition: Precondition = {},
): Promise<void> {
  checkId(id);
  checkPreconditionOptions(precondition);
  context.access?.checkWrite();
  const now = context.now();
  const isDeleted =
    isCleanText(id) &&
    (await context.repository.delete(id, (current) => {
      checkChange(context, id, current, precondition, now);
    }));
  if (!isDeleted) throw notFound(context, id);
}

/** @throws RostrumError `forbidden` for a caller that cannot be a user */
function noUserYet(caller: Caller): RostrumError<'invalid-record'> {
  subjectOf(caller);
  const message = 'You have no user yet. Create your own user first.';
  const issues = [{ pointer: '/authorId', code: 'unknown', message } as const];
  return new RostrumError('invalid-record', { issues, reason: 'no-user' });
}
