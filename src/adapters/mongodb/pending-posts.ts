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
   * Waits until posts are made or given up. One that stays as it is for long was abandoned, and
   * is removed: if its maker lives after all, they notice and begin again.
   */
  async outwait(call: Call, ids: readonly Id[]): Promise<void> {
    const from = Date.now();
    const before = await this.#tokens(call, ids);
    for (let attempt = 0; before.size > 0; attempt++) {
      await call.pause(attempt);
      const now = await this.#tokens(call, [...before.keys()]);
      for (const [id, token] of before) if (now.get(id) !== token) before.delete(id);
      if (Date.now() - from < limits.pendingMs) continue;
      await this.#removeAll(call, before);
      return;
    }
  }

  async remove(call: Call, _id: Id, token: string): Promise<void> {
    await call.prepare('remove', (bounds) =>
      this.#posts.deleteOne({ _id, pending: true, 'joining.token': token }, bounds),
    );
  }

  async #removeAll(call: Call, tokens: ReadonlyMap<Id, string>): Promise<void> {
    const marked = { 'joining.token': { $in: [...new Set(tokens.values())] } };
    const filter = { _id: { $in: [...tokens.keys()] }, pending: true, ...marked } as object;
    await call.prepare('remove', (bounds) => this.#posts.deleteMany(filter, bounds));
  }

  /** The tokens of those that are being made. */
  async #tokens(call: Call, ids: readonly Id[]): Promise<Map<Id, string>> {
    const found = await call.read((bounds) =>
      this.#posts
        .find({ _id: { $in: [...ids] }, pending: true }, { readConcern: 'local', ...bounds })
        .toArray(),
    );
    return new Map(found.map(({ _id, joining }) => [_id, joining?.[0]?.token ?? '']));
  }
}
