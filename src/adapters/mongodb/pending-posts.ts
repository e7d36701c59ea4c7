import type { Collection } from 'mongodb';
import type { Id } from '../../domain/record.ts';
import type { Call } from './call.ts';
import type { StoredPost } from './documents.ts';
import { limits } from './limits.ts';

/** A post in the making: nothing but the mark, and its claims, so that nobody else takes them. */
export function pendingPost(
  { _id, claims }: StoredPost,
  mark: { readonly token: string; readonly author: Id },
): StoredPost {
  const expires = new Date(Date.now() + limits.graceMs);
  return { _id, pending: true, joining: [mark], ...(claims && { claims }), expires };
}

/** Posts that are being made (see fence.ts), as those meet them who want the same id or key. */
export class PendingPosts {
  readonly #posts: Collection<StoredPost>;

  constructor(posts: Collection<StoredPost>) {
    this.#posts = posts;
  }

  /**
   * Waits until a post is made or given up. One that stays as it is for long was abandoned, and
   * is removed: if its maker lives after all, they notice and begin again.
   */
  async outwait(call: Call, id: Id): Promise<void> {
    const from = Date.now();
    const token = await this.#token(call, id);
    for (let attempt = 0; token !== undefined; attempt++) {
      await call.pause(attempt);
      if ((await this.#token(call, id)) !== token) return;
      if (Date.now() - from < limits.pendingMs) continue;
      await this.remove(call, id, token);
      return;
    }
  }

  async remove(call: Call, _id: Id, token: string): Promise<void> {
    await call.prepare('remove', (bounds) =>
      this.#posts.deleteOne({ _id, pending: true, 'joining.token': token }, bounds),
    );
  }

  async #token(call: Call, _id: Id): Promise<string | undefined> {
    const post = await call.read((bounds) =>
      this.#posts.findOne({ _id, pending: true }, { readConcern: 'local', ...bounds }),
    );
    return post?.joining?.[0]?.token;
  }
}
