import type { ClientSession, Collection } from 'mongodb';
import type { Position } from '../../domain/page.ts';
import type { Post } from '../../domain/post.ts';
import type { Id } from '../../domain/record.ts';
import type { Decide } from '../../ports/repository.ts';
import type { Bounds, Call } from './call.ts';
import { deleted, released } from './cascade-changes.ts';
import { type StoredPost, toVersioned } from './documents.ts';
import { limits } from './limits.ts';
import { pageQuery } from './list-query.ts';
import { postConditions, postPaths } from './post-conditions.ts';

/** Within a transaction, or without one. */
export interface Within {
  readonly session?: ClientSession;
}

/** The posts of a user who is being deleted, and what becomes of them, some at a time. */
export class CascadePosts {
  readonly #posts: Collection<StoredPost>;

  constructor(posts: Collection<StoredPost>) {
    this.#posts = posts;
  }

  /** Also what no majority has yet: after the eviction nothing can be added to it. */
  count(call: Call, author: Id): Promise<number> {
    return call.read((bounds) =>
      this.#posts.countDocuments(byAuthor(author), {
        ...unordered,
        readConcern: 'local',
        ...bounds,
      }),
    );
  }

  /** Releases them all, and changes nothing: what it throws has to come before anything is changed. */
  async rehearse(call: Call, author: Id, release: Decide<Post>): Promise<void> {
    for await (const some of this.#batches(call, author)) {
      for (const post of some) released(post, release);
    }
  }

  /** Deletes or releases the posts, once through. False when there was none. */
  async pass(
    call: Call,
    author: Id,
    release: Decide<Post> | undefined,
    within: Within = {},
  ): Promise<boolean> {
    let any = false;
    for await (const some of this.#batches(call, author, within)) {
      any = true;
      const changes = some.map((post) => (release ? released(post, release) : deleted(post)));
      await write(call, 'posts', within, (bounds) =>
        this.#posts.bulkWrite(changes, { ordered: false, ...within, ...bounds }),
      );
    }
    return any;
  }

  /** The posts of a user, some at a time; each time the call has got on, and may last on. */
  async *#batches(
    call: Call,
    authorId: Id,
    { session }: Within = {},
  ): AsyncGenerator<StoredPost[]> {
    const limit = limits.cascadeBatch;
    // Without a session as the primary has it, with what the cascade itself just did.
    const level = session ? { session } : ({ readConcern: 'local' } as const);
    let after: Position | undefined;
    do {
      // By position and not from the start: in a transaction, what it deleted is still gone through.
      const { page, sort, hint } = pageQuery(
        postConditions({ authorId }),
        oldest,
        postPaths,
        after,
      );
      const some = await call.read((bounds) =>
        this.#posts
          .find(page, { hint, limit, ...level, ...bounds })
          .sort(sort)
          .toArray(),
      );
      if (some.length > 0) yield some;
      call.extend();
      const last = some.length === limit ? toVersioned<Post>(some.at(-1))?.record : undefined;
      after = last && { key: last.createdAt, id: last.id };
    } while (after !== undefined);
  }
}

const oldest = { by: 'createdAt', direction: 'asc' } as const;

const unordered = { hint: 'author_createdAt' } as const;

function byAuthor(author: Id): { 'record.authorId': Id } {
  return { 'record.authorId': author };
}

/** In a transaction nothing has been changed before it is committed. */
export function write<T>(
  call: Call,
  step: string,
  { session }: Within,
  run: (bounds: Bounds) => Promise<T>,
): Promise<T> {
  return session ? call.prepare(step, run) : call.commit(step, run);
}
