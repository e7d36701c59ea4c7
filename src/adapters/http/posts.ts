import type { PostFilter, PostSort } from '../../domain/list.ts';
import { postSortKey } from '../../domain/list.ts';
import type { Post } from '../../domain/post.ts';
import { type ListedResource, listHandler } from './list-handler.ts';
import { readPostFilter } from './list-query.ts';
import { changeAt, deleted, type Handler, recordHandlers } from './record-handlers.ts';

const posts: ListedResource<Post, PostFilter, PostSort> = {
  path: '/posts',
  plural: 'posts',
  service: (rostrum) => rostrum.posts,
  readFilter: readPostFilter,
  sortKey: postSortKey,
};

const remove: Handler = async (request) => {
  await request.rostrum.posts.delete(request.id, changeAt(request));
  return deleted(request);
};

export const postHandlers = { ...recordHandlers(posts), list: listHandler(posts), remove };
