import { RostrumError } from '../../domain/errors.ts';
import type { Instant } from '../../domain/instant.ts';
import { type Post, withoutAuthor } from '../../domain/post.ts';
import type { Id, Version } from '../../domain/record.ts';
import type { DeleteMode, Deletion } from '../../ports/user-repository.ts';
import type { Call } from './call.ts';
import { deletedIds } from './layout.ts';
import { limits } from './limits.ts';
import type { Transaction } from './transactions.ts';

interface FoundPost {
  readonly _id: Id;
  readonly version: Version;
  readonly updatedAt: Instant;
}

/**
 * Deletes a user, and deletes or keeps the user's posts. The user comes first: from then on, a transaction
 * that creates a post of this user conflicts with this one.
 *
 * @returns undefined when the user is not at this version
 * @throws RostrumError `user-has-posts`, `refused`
 */
export async function deleteUser(
  transaction: Transaction,
  call: Call,
  { id, version }: { readonly id: Id; readonly version: Version },
  mode: DeleteMode,
  at: Instant,
): Promise<Deletion | undefined> {
  if ((await transaction.delete('users', { _id: id, version })) === 0) return undefined;
  const posts = await transaction.count('posts', { authorId: id });
  if (posts > 0 && mode === 'refuse') throw new RostrumError('user-has-posts', { posts });
  if (posts > limits.deletedPosts) {
    throw new RostrumError('refused', { reason: 'Delete some of the posts first.' });
  }
  for (let left = posts; left > 0; left -= limits.found) {
    call.extend();
    const fields = { version: 1, updatedAt: 1 };
    const found = (await transaction.find('posts', { authorId: id }, fields)) as FoundPost[];
    await (mode === 'delete' ? deletePosts(transaction, found) : keepPosts(transaction, found, at));
  }
  await transaction.insert(deletedIds.users, [{ _id: id, last: version }]);
  return { posts };
}

async function deletePosts(transaction: Transaction, posts: readonly FoundPost[]): Promise<void> {
  await transaction.delete('posts', { _id: { $in: posts.map(({ _id }) => _id) } });
  const ids = posts.map(({ _id, version }) => ({ _id, last: version }));
  await transaction.insert(deletedIds.posts, ids);
}

/** The server changes posts without sending them: what has changed stands beside the JSON. */
async function keepPosts(
  transaction: Transaction,
  posts: readonly FoundPost[],
  at: Instant,
): Promise<void> {
  const changes = Map.groupBy(posts, ({ updatedAt }) => nextUpdate(updatedAt, at));
  const updates = [...changes].map(([updatedAt, some]) => {
    const change = { authorId: null, updatedAt };
    return {
      q: { _id: { $in: some.map(({ _id }) => _id) } },
      u: { $set: { ...change, override: change }, $inc: { version: 1 } },
      multi: true,
    };
  });
  await transaction.update('posts', updates);
}

function nextUpdate(updatedAt: Instant, at: Instant): Instant {
  return withoutAuthor({ updatedAt } as Post, at).updatedAt;
}
