import type { PostRepository } from '../../ports/post-repository.ts';
import { subjectOf } from '../access/access.ts';
import type { Caller } from '../access/caller.ts';
import { isUnknownAuthor, RostrumError } from '../errors.ts';
import { checkRequest, type ListRequest } from '../lists/list-request.ts';
import type { PostFilter } from '../lists/search.ts';
import { isPlainObject } from '../records/json.ts';
import type { Post } from '../records/post.ts';
import { checkPreconditionOptions, type Precondition } from '../records/precondition.ts';
import type { CreateOptions } from '../records/receipt.ts';
import type { Id, Versioned } from '../records/record.ts';
import { isCleanText } from '../records/text.ts';
import type { PublicUser } from '../records/user.ts';
import type { Created, PageWithAuthors, PostService } from './record-service.ts';
import {
  allRecords,
  changeRecord,
  checkId,
  deletionGuard,
  getRecord,
  listRecords,
  newRecord,
  notFound,
  type RecordContext,
  storeNewRecord,
  updateRecord,
} from './record-use-cases.ts';

export interface PostContext extends RecordContext<Post, PostRepository> {
  readonly authors: (
    ids: readonly Id[],
    signal?: AbortSignal,
  ) => Promise<readonly Versioned<PublicUser>[]>;
}

export function postService(context: PostContext): PostService {
  return {
    create: (input, options) => createPost(context, input, options),
    get: (id) => getRecord(context, id),
    list: (request?: ListRequest<PostFilter, string>) => listRecords(context, request),
    all: (request) => allRecords(context, request),
    listWithAuthors: (request?: ListRequest<PostFilter, string>) =>
      listPostsWithAuthors(context, request),
    replace: (id, input, precondition) => changeRecord(context, id, precondition, () => input),
    patch: (id, patch, precondition) =>
      changeRecord(context, id, precondition, () => patch, 'patch'),
    update: (id, change, precondition) => updateRecord(context, id, change, precondition),
    delete: (id, precondition) => deletePost(context, id, precondition),
  };
}

/** Creates a post. If the input names no author, the author is the caller's own user. */
async function createPost(
  context: PostContext,
  input: unknown,
  options?: CreateOptions,
): Promise<Created<Post>> {
  const { access } = context;
  access?.checkWrite();
  const subject = access?.caller.subject ?? null;
  const namesAuthor = !isPlainObject(input) || input.authorId !== undefined;
  const complete = namesAuthor || subject === null ? input : { ...input, authorId: subject };
  // Check permissions before replaying: the caller may have lost the scope since.
  access?.checkNewPost(complete);
  const { record: post, receipt } = await newRecord(context, complete, options);
  try {
    return await storeNewRecord(context, post, receipt);
  } catch (error) {
    const isCallerUnknown = isUnknownAuthor(error) && post.authorId === subject;
    if (access === undefined || !isCallerUnknown) throw error;
    if (namesAuthor || !access.canWriteAll) throw noUserYet(access.caller);
    return storeNewRecord(context, { ...post, authorId: null }, receipt);
  }
}

async function listPostsWithAuthors(
  context: PostContext,
  request: ListRequest<PostFilter, string> = {},
): Promise<PageWithAuthors<Post>> {
  const { fields } = checkRequest(request, context);
  const withAuthorId = fields && { fields: [...fields, 'authorId'] };
  const page = await listRecords(context, { ...request, ...withAuthorId });
  const ids = new Set(page.items.flatMap(({ record }) => record.authorId ?? []));
  return { ...page, users: ids.size === 0 ? [] : await context.authors([...ids], request.signal) };
}

async function deletePost(
  context: PostContext,
  id: Id,
  precondition: Precondition = {},
): Promise<void> {
  checkId(id);
  checkPreconditionOptions(precondition);
  context.access?.checkWrite();
  const guard = deletionGuard(context, id, precondition);
  const isDeleted = isCleanText(id) && (await context.repository.delete(id, guard));
  if (!isDeleted) throw notFound(context, id);
}

/** @throws RostrumError `forbidden` for a caller that cannot be a user */
function noUserYet(caller: Caller): RostrumError<'invalid-record'> {
  subjectOf(caller);
  const message = 'You have no user yet. Create your own user first.';
  const issues = [{ pointer: '/authorId', code: 'unknown', message } as const];
  return new RostrumError('invalid-record', { issues, reason: 'no-user' });
}
