import { type Deletion, deleteModes, type UserRepository } from '../../ports/user-repository.ts';
import { subjectOf } from '../access/access.ts';
import { isRostrumError, RostrumError } from '../errors.ts';
import type { Page, Position } from '../lists/list.ts';
import { type CheckedRequest, checkRequest, type ListRequest } from '../lists/list-request.ts';
import { filters, type UserFilter } from '../lists/search.ts';
import { checkPreconditionOptions, type Precondition } from '../records/precondition.ts';
import type { CreateOptions } from '../records/receipt.ts';
import { type Id, pickFields, type Versioned, VersionedRecord } from '../records/record.ts';
import { isCleanText } from '../records/text.ts';
import type { PublicUser, User, UserInput } from '../records/user.ts';
import type { Created, DeleteUserOptions, Saved, UserService } from './record-service.ts';
import {
  allRecords,
  changeIfFound,
  changeRecord,
  checkId,
  deletionGuard,
  findRecord,
  getRecord,
  judgeChange,
  listRecords,
  newRecord,
  notFound,
  type RecordContext,
  readPage,
  storeNewRecord,
  updateRecord,
} from './record-use-cases.ts';

type UserListRequest = ListRequest<UserFilter, string>;

export interface UserContext extends RecordContext<User, UserRepository> {
  /** The fields of the public view. */
  readonly publicFields: readonly string[];
}

export function userService(context: UserContext): UserService {
  return {
    create: (input, options) => createUser(context, input, options),
    get: (id) => getRecord(context, id),
    getPublic: (id) => getPublicUser(context, id),
    list: (request?: UserListRequest) => listRecords(context, request),
    all: (request) => allRecords(context, request),
    listPublic: (request?: UserListRequest) => listPublicUsers(context, request),
    replace: (id, input, precondition) => changeRecord(context, id, precondition, () => input),
    patch: (id, patch, precondition) =>
      changeRecord(context, id, precondition, () => patch, 'patch'),
    update: (id, change, precondition) => updateRecord(context, id, change, precondition),
    saveOwn: (input, precondition) => saveOwnUser(context, input, precondition),
    delete: (id, options) => deleteUser(context, id, options),
  };
}

async function createUser(
  context: UserContext,
  input: unknown,
  options?: CreateOptions,
): Promise<Created<User>> {
  context.access?.checkCreateUser();
  const { record, receipt } = await newRecord(context, input, options);
  return storeNewRecord(context, record, receipt);
}

async function getPublicUser(context: UserContext, id: Id): Promise<Versioned<PublicUser>> {
  checkId(id);
  context.access?.checkReadPublic();
  const { record, version } = await findRecord(context, id);
  return new VersionedRecord(pickFields(record, context.publicFields), version);
}

async function listPublicUsers(
  context: UserContext,
  request: UserListRequest = {},
): Promise<Page<PublicUser>> {
  const checked = checkRequest(request, context);
  context.access?.checkReadPublic();
  checkPublicOnly(context, checked);
  const { publicFields } = context;
  const fields = checked.fields?.filter((name) => publicFields.includes(name)) ?? publicFields;
  return readPage(context, { ...checked, fields });
}

/** Reads users in the public view, for a caller that sees their posts. */
export async function publicUsers(
  context: UserContext,
  ids: readonly Id[],
  signal?: AbortSignal,
): Promise<readonly Versioned<PublicUser>[]> {
  const users: Versioned<PublicUser>[] = [];
  const fields = context.publicFields;
  let after: Position | undefined;
  do {
    const request = checkRequest({ filter: { ids }, after, signal }, context);
    const page = await readPage(context, { ...request, fields });
    users.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return users;
}

/** Replaces the caller's own user, or creates it with the caller's subject as its id. */
async function saveOwnUser(
  context: UserContext,
  input: UserInput,
  precondition: Precondition = {},
): Promise<Saved<User>> {
  const id = subjectOf(context.access?.caller);
  for (;;) {
    const change = await changeIfFound(context, id, precondition, () => input);
    if (change !== undefined) return Object.assign(change, { created: false });
    if (precondition.only !== undefined) throw new RostrumError('version-mismatch', { version: 0 });
    try {
      const user = context.model.create(input, id, context.now(), id);
      judgeChange(context, undefined, user);
      const creation = await context.repository.create(user);
      return Object.assign(creation, { changed: true, created: true });
    } catch (error) {
      if (isRostrumError(error, 'id-taken')) continue;
      const isTaken = isRostrumError(error, 'email-taken') || isRostrumError(error, 'field-taken');
      if (!isTaken || (await context.repository.get(id)) === undefined) throw error;
      // Another call has just created it, and a store may name the taken value before the id: replace it.
    }
  }
}

async function deleteUser(
  context: UserContext,
  id: Id,
  options: DeleteUserOptions = {},
): Promise<Deletion> {
  checkId(id);
  checkPreconditionOptions(options, 'posts');
  const { posts = 'refuse' } = options;
  if (!deleteModes.includes(posts)) {
    throw new RangeError(`The option "posts" must be one of ${deleteModes.join(', ')}.`);
  }
  const { access, repository } = context;
  access?.checkWrite();
  if (posts !== 'refuse') access?.checkWritePostsOf(id);
  const guard = deletionGuard(context, id, options);
  try {
    const deletion = isCleanText(id)
      ? await repository.delete(id, posts, context.now(), guard)
      : undefined;
    if (deletion === undefined) throw notFound(context, id);
    return deletion;
  } catch (error) {
    const canCount = access === undefined || access.canCountPostsOf(id);
    if (canCount || !isRostrumError(error, 'user-has-posts')) throw error;
    throw new RostrumError('user-has-posts', {});
  }
}

type KnownFilter = keyof typeof filters.users;

/** Filters and orders must not reveal what the public view hides. */
function checkPublicOnly(
  { publicFields }: UserContext,
  { filter, order }: CheckedRequest<UserFilter, string>,
): void {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const fields = given.map(([name]) => {
    return Object.hasOwn(filters.users, name) ? filters.users[name as KnownFilter].field : name;
  });
  if ([...fields, order.by].every((name) => publicFields.includes(name))) return;
  throw new RostrumError('forbidden', { scope: 'users:read' });
}
