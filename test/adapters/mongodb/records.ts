import { randomUUID } from 'node:crypto';
import { type Claim, makeClaim } from '../../../src/domain/claim.ts';
import { instantFromMs } from '../../../src/domain/instant.ts';
import type { Json } from '../../../src/domain/json.ts';
import type { Post } from '../../../src/domain/post.ts';
import type { User } from '../../../src/domain/user.ts';
import type { PostsOfDeleted } from '../../../src/ports/user-repository.ts';

type Fields = Readonly<Record<string, Json>>;

export function user(fields: Fields = {}): User {
  const now = instantFromMs(Date.now());
  const id = randomUUID();
  return { id, createdAt: now, updatedAt: now, name: 'Ada', email: null, ...fields } as User;
}

export function post(fields: Fields = {}): Post {
  const now = instantFromMs(Date.now());
  const known = { title: 'On engines', body: '', authorId: null };
  return { id: randomUUID(), createdAt: now, updatedAt: now, ...known, ...fields } as Post;
}

export function claim(key: string = randomUUID()): Claim {
  return makeClaim({ key, fingerprint: 'the same' }, instantFromMs(Date.now()));
}

export const keep: PostsOfDeleted = {
  posts: 'keep',
  release: ({ record }) => ({ ...record, authorId: null }),
};

export function times<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n));
}
