import type { UserFilter, UserSort } from '../../domain/list.ts';
import { userSortKey } from '../../domain/list.ts';
import { deleteModes } from '../../domain/services/user-service.ts';
import type { User } from '../../domain/user.ts';
import { type ListedResource, listHandler } from './list-handler.ts';
import { readUserFilter } from './list-query.ts';
import { changeAt, deleted, type Handler, recordHandlers } from './record-handlers.ts';

const users: ListedResource<User, UserFilter, UserSort> = {
  path: '/users',
  plural: 'users',
  service: (rostrum) => rostrum.users,
  readFilter: readUserFilter,
  sortKey: userSortKey,
};

const remove: Handler = async (request) => {
  const { rostrum, id, query } = request;
  const [posts] = query.get('posts') ?? [];
  const mode = deleteModes.find((one) => one === posts) ?? 'refuse';
  await rostrum.users.delete(id, { posts: mode, ...changeAt(request) });
  return deleted(request);
};

export const userHandlers = { ...recordHandlers(users), list: listHandler(users), remove };
