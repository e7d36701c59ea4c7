import type { PostSort, UserSort } from '../../domain/page.ts';
import type { Post } from '../../domain/post.ts';
import type { User } from '../../domain/user.ts';
import type { Table } from './table.ts';

/** What the store holds. Each repository looks into the other's table. */
export interface Tables {
  readonly users: Table<User, UserSort>;
  readonly posts: Table<Post, PostSort>;
}
