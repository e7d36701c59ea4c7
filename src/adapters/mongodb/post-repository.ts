import type { CustomFilterFields } from '../../domain/declared-fields.ts';
import type { PostFilter, PostSort } from '../../domain/list.ts';
import type { Post } from '../../domain/post.ts';
import type { Id, Versioned } from '../../domain/record.ts';
import type { PostRepository } from '../../ports/post-repository.ts';
import type { Guard } from '../../ports/repository.ts';
import type { Call } from './connection/call.ts';
import type { Connection } from './connection/connection.ts';
import type { Fence } from './fence/fence.ts';
import { Joining } from './fence/joining.ts';
import { posts, withCustomFilters } from './lists/conditions.ts';
import { tombstone } from './receipts.ts';
import { MongodbRepository } from './repository.ts';
import { asRead, type StoredPost, toStoredPost } from './schema/documents.ts';

export class MongodbPostRepository
  extends MongodbRepository<Post, StoredPost, PostFilter, PostSort>
  implements PostRepository
{
  readonly #joining: Joining;

  constructor(connection: Connection, fence: Fence, customFilters?: CustomFilterFields) {
    const joining = new Joining(connection, fence);
    super(connection, connection.posts, withCustomFilters(posts, customFilters), (call, id) =>
      joining.outwait(call, id),
    );
    this.#joining = joining;
  }

  async delete(id: Id, guard?: Guard<Post>): Promise<boolean> {
    const isDeleted = await this.connection.call((call) =>
      this.change(call, id, async (stored, current) => {
        guard?.(current);
        const { matchedCount } = await call.commit('delete', (bounds) =>
          this.collection.updateOne(asRead(stored), tombstone, bounds),
        );
        return matchedCount === 1 || undefined;
      }),
    );
    return isDeleted ?? false;
  }

  protected override toStored = toStoredPost;

  protected override async insert(
    call: Call,
    stored: StoredPost,
    { authorId }: Post,
    characters: number,
  ): Promise<boolean> {
    if (authorId !== null) return this.#joining.insert(call, stored, authorId);
    await call.commit('insert', () => this.inserts.insert(stored, characters));
    return true;
  }

  protected override async replace(
    call: Call,
    stored: StoredPost,
    { record, version }: Versioned<Post>,
  ): Promise<boolean> {
    const { authorId } = record;
    const filter = asRead(stored);
    const names = authorId !== null && authorId !== stored.record?.authorId;
    const mark = names ? await this.#joining.join(call, filter, authorId) : {};
    if (mark === undefined) return false;
    return this.put(call, stored, { ...filter, ...mark }, toStoredPost(record, version));
  }
}
