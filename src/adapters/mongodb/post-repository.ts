import { randomUUID } from 'node:crypto';
import type { Collection } from 'mongodb';
import type { Claim } from '../../domain/claim.ts';
import { unknownAuthor } from '../../domain/errors.ts';
import { copyJson } from '../../domain/json.ts';
import { type PostFilter, type PostSort, postSortKey } from '../../domain/page.ts';
import type { Post } from '../../domain/post.ts';
import type { Id, Versioned } from '../../domain/record.ts';
import type { PostRepository } from '../../ports/post-repository.ts';
import type { Creation, Decide, Guard } from '../../ports/repository.ts';
import type { Call } from './call.ts';
import { keptClaims, tombstoneOf, toStoredClaim } from './claims.ts';
import type { Connection } from './connection.ts';
import {
  asRead,
  firstVersion,
  isHidden,
  type StoredPost,
  toStoredPost,
  toVersioned,
} from './documents.ts';
import type { DuplicateKey } from './errors.ts';
import { type Fence, ofMarks } from './fence.ts';
import { partsOf } from './loading.ts';
import { PendingPosts, pendingPost } from './pending-posts.ts';
import { postConditions, postPaths } from './post-conditions.ts';
import { loadPosts } from './post-loading.ts';
import { MongodbRepository } from './repository.ts';

const kind = { conditions: postConditions, paths: postPaths, sortKey: postSortKey };

export class MongodbPostRepository
  extends MongodbRepository<Post, StoredPost, PostFilter, PostSort>
  implements PostRepository
{
  readonly #posts: Collection<StoredPost>;
  readonly #fence: Fence;
  readonly #pending: PendingPosts;

  constructor(connection: Connection, fence: Fence) {
    const pending = new PendingPosts(connection.posts);
    super(connection, connection.posts, kind, pending);
    this.#posts = connection.posts;
    this.#fence = fence;
    this.#pending = pending;
  }

  override create(given: Post, claim?: Claim): Promise<Creation<Post>> {
    const claims = claim ? [toStoredClaim(claim)] : [];
    return this.creation(given, claim, async (call, post, remains) => {
      if (remains !== undefined) {
        const stored = toStoredPost(post, firstVersion, [...claims, ...keptClaims(remains)]);
        const filter = { _id: post.id, ...isHidden, pending: { $exists: false } };
        return this.#replace(call, filter, stored, post.authorId);
      }
      const stored = toStoredPost(post, firstVersion, claims);
      if (post.authorId !== null) return this.#insertNaming(call, stored, post.authorId);
      await call.commit('insert', (bounds) => this.#posts.insertOne(stored, bounds));
      return true;
    });
  }

  override update(id: Id, decide: Decide<Post>): Promise<Versioned<Post> | undefined> {
    return this.change(id, decide, (call, stored, { record, version }, next) => {
      const replacement = toStoredPost(next, version + 1, keptClaims(stored), stored.loaded);
      const author = next.authorId === record.authorId ? null : next.authorId;
      return this.#replace(call, asRead(stored), replacement, author);
    });
  }

  async load(records: readonly Versioned<Post>[]): Promise<void> {
    const parts = partsOf(records);
    return this.connection.call((call) =>
      call.inParts(async () => {
        for (const part of parts) {
          await loadPosts(call, this.#posts, this.#fence, this.#pending, part);
          call.extend();
        }
      }),
    );
  }

  async delete(id: Id, guard?: Guard<Post>): Promise<boolean> {
    return this.connection.call(async (call) => {
      for (let attempt = 0; ; attempt++) {
        const post = await this.find(call, id);
        const current = toVersioned<Post>(post);
        if (post === undefined || current === undefined) return false;
        guard?.(copyJson(current));
        if (await this.#delete(call, post)) return true;
        await call.pause(attempt);
      }
    });
  }

  protected override conflict(duplicate: DuplicateKey): unknown {
    return duplicate;
  }

  /** Inserts a post that names an author: first as pending, and seen when the author is there. */
  async #insertNaming(call: Call, post: StoredPost, author: Id): Promise<boolean> {
    const { _id } = post;
    const token = randomUUID();
    const pending = pendingPost(post, { token, author });
    await call.prepare('pending', (bounds) =>
      this.#posts.insertOne(pending, { ...ofMarks, ...bounds }),
    );
    if (!(await this.#fence.admits(call, author))) {
      await this.#pending.remove(call, _id, token);
      throw unknownAuthor();
    }
    return this.#put(call, { _id, 'joining.token': token }, post);
  }

  /**
   * Replaces a document; when it comes to name another author, with the mark that this needs.
   * False when the filter does not hold any more.
   */
  async #replace(
    call: Call,
    filter: { readonly _id: Id },
    post: StoredPost,
    author: Id | null,
  ): Promise<boolean> {
    if (author === null) return this.#put(call, filter, post);
    const token = randomUUID();
    const { matchedCount } = await call.prepare('join', (bounds) =>
      this.#posts.updateOne(
        filter,
        { $push: { joining: { token, author } } },
        { ...ofMarks, ...bounds },
      ),
    );
    if (matchedCount === 0) return false;
    if (!(await this.#fence.admits(call, author))) {
      await call.prepare('unjoin', (bounds) =>
        this.#posts.updateOne({ _id: post._id }, { $pull: { joining: { token } } }, bounds),
      );
      throw unknownAuthor();
    }
    return this.#put(call, { ...filter, 'joining.token': token }, post);
  }

  async #put(call: Call, filter: object, post: StoredPost): Promise<boolean> {
    const { matchedCount } = await call.commit('put', (bounds) =>
      this.#posts.replaceOne(filter, post, bounds),
    );
    return matchedCount === 1;
  }

  async #delete(call: Call, post: StoredPost): Promise<boolean> {
    const filter = asRead(post);
    const tombstone = tombstoneOf(post);
    if (tombstone !== undefined) return this.#put(call, filter, tombstone);
    const { deletedCount } = await call.commit('delete', (bounds) =>
      this.#posts.deleteOne(filter, bounds),
    );
    return deletedCount === 1;
  }
}
