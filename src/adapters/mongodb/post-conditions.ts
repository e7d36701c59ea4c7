import type { PostFilter, PostSort } from '../../domain/page.ts';
import { type Conditions, commonConditions, neverHeld, type SortPaths } from './list-query.ts';

export const postPaths: SortPaths<PostSort> = {
  createdAt: 'record.createdAt',
  updatedAt: 'record.updatedAt',
  title: 'record.title',
};

export function postConditions(filter: PostFilter): Conditions<PostSort> {
  const { ids, title, authorId } = filter;
  return {
    match: {
      ...commonConditions(filter),
      ...(title !== undefined && { 'record.title': title }),
      // By its type, because "equal to null" is two spans of an index: null, and none at all.
      ...(authorId !== undefined && { 'record.authorId': authorId ?? { $type: 'null' } }),
    },
    never: neverHeld(title, authorId),
    few: ids === undefined ? undefined : '_id_',
    index: (by) => {
      if (title !== undefined) return by === 'title' ? by : 'title_createdAt';
      // One author's posts are few beside all posts, and are sorted in memory if need be; the
      // posts without an author may be most of them.
      if (authorId === undefined || (authorId === null && by !== 'createdAt')) return by;
      return 'author_createdAt';
    },
  };
}
