import type { Post } from '../../../../src/domain/post.ts';
import type { User } from '../../../../src/domain/user.ts';

const at = '2026-05-05T05:05:05.000Z';

export function user(id: string, fields: Partial<User> = {}): User {
  return { id, createdAt: at, updatedAt: at, name: `Name of ${id}`, email: null, ...fields };
}

export function post(id: string, fields: Partial<Post> = {}): Post {
  return { id, createdAt: at, updatedAt: at, title: 'T', body: '', authorId: null, ...fields };
}
