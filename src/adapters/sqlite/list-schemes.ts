import { emailKey } from '../../domain/email.ts';
import type { PostFilter, PostSort, UserFilter, UserSort } from '../../domain/page.ts';
import type { Equality, ListScheme } from './list-query.ts';

export const userLists: ListScheme<UserFilter, UserSort> = {
  table: 'users',
  sorts: {
    createdAt: { column: 'created_at', index: 'users_created' },
    updatedAt: { column: 'updated_at', index: 'users_updated' },
    name: { column: 'name', index: 'users_name' },
    email: { column: 'email_sort', index: 'users_email' },
  },
  equalities({ email, name }) {
    const found: Equality<UserSort>[] = [];
    if (email !== undefined) {
      found.push({ column: 'email_key', value: emailKey(email), index: () => 'users_email_key' });
    }
    if (name !== undefined) {
      const index = (by: UserSort) => (by === 'name' ? 'users_name' : 'users_name_created');
      found.push({ column: 'name', value: name, index });
    }
    return found;
  },
};

export const postLists: ListScheme<PostFilter, PostSort> = {
  table: 'posts',
  sorts: {
    createdAt: { column: 'created_at', index: 'posts_created' },
    updatedAt: { column: 'updated_at', index: 'posts_updated' },
    title: { column: 'title', index: 'posts_title' },
  },
  equalities({ title, authorId }) {
    const found: Equality<PostSort>[] = [];
    if (title !== undefined) {
      const index = (by: PostSort) => (by === 'title' ? 'posts_title' : 'posts_title_created');
      found.push({ column: 'title', value: title, index });
    }
    if (authorId !== undefined) {
      found.push({ column: 'author_id', value: authorId, index: () => 'posts_author_created' });
    }
    return found;
  },
};
