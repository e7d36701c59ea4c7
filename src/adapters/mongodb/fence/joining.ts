import { randomUUID } from 'node:crypto';
import type { Collection } from 'mongodb';
import { unknownAuthor } from '../../../domain/errors.ts';
import type { Id } from '../../../domain/record.ts';
import type { Call } from '../connection/call.ts';
import type { Connection } from '../connection/connection.ts';
import { limits } from '../connection/limits.ts';
import { Inserts } from '../inserts.ts';
import type { StoredPost } from '../schema/documents.ts';
import type { Fence } from './fence.ts';

/** The steps of the fence by which a post comes to name an author. */
export class Joining {
  readonly #posts: Collection<StoredPost>;
  readonly #inserts: Inserts<StoredPost>;
  readonly #fence: Fence;

  constructor(connection: Connection, fence: Fence) {
    this.#posts = connection.posts;
    this.#inserts = new Inserts(connection, connection.posts, ofMarks);
    this.#fence = fence;
  }

  /**
   * Inserts a post: first as pending, and seen when the author is there. False when another
   * call removed it meanwhile.
   *
   * @throws RostrumError `invalid-record` for an unknown author
   */
  async insert(call: Call, post: StoredPost, author: Id): Promise<boolean> {
    const { _id, claims } = post;
    const token = randomUUID();
    const expires = new Date(Date.now() + limits.graceMs);
    // It has the receipts, so that no other creation takes them.
    const mark = { pending: true, joining: [{ token, author }], expires } as const;
    const pending = { _id, ...mark, ...(claims && { claims }) };
    await call.prepare('pending', () => this.#inserts.insert(pending, 0));
    if (!(await this.#fence.admits(call, author))) {
      await this.#remove(call, _id, token);
      throw unknownAuthor();
    }
    const { matchedCount } = await call.commit('put', (bounds) =>
      this.#posts.replaceOne({ _id, 'joining.token': token }, post, bounds),
    );
    return matchedCount === 1;
  }

  /**
   * Marks a post as joining an author who is there.
   *
   * @returns what holds of the post for as long as its mark stands; undefined when the filter does
   * not hold any more
   * @throws RostrumError `invalid-record` for an unknown author
   */
  async join(call: Call, filter: { readonly _id: Id }, author: Id): Promise<object | undefined> {
    const token = randomUUID();
    const push = { $push: { joining: { token, author } } };
    const { matchedCount } = await call.prepare('join', (bounds) =>
      this.#posts.updateOne(filter, push, { ...ofMarks, ...bounds }),
    );
    if (matchedCount === 0) return undefined;
    if (await this.#fence.admits(call, author)) return { 'joining.token': token };
    await call.prepare('unjoin', (bounds) =>
      this.#posts.updateOne({ _id: filter._id }, { $pull: { joining: { token } } }, bounds),
    );
    throw unknownAuthor();
  }

  /**
   * Waits until a pending post is made or given up. One that does not change for long was abandoned,
   * and is removed. If its maker lives after all, it notices and begins again.
   */
  async outwait(call: Call, id: Id): Promise<void> {
    const from = Date.now();
    const token = await this.#token(call, id);
    for (let attempt = 0; token !== undefined; attempt++) {
      await call.pause(attempt);
      if ((await this.#token(call, id)) !== token) return;
      if (Date.now() - from >= limits.pendingMs) return this.#remove(call, id, token);
    }
  }

  async #remove(call: Call, _id: Id, token: string): Promise<void> {
    await call.prepare('remove', (bounds) =>
      this.#posts.deleteOne({ _id, pending: true, 'joining.token': token }, bounds),
    );
  }

  /** The token of a post that is being made. */
  async #token(call: Call, _id: Id): Promise<string | undefined> {
    const found = await call.readLocally((bounds) =>
      this.#posts.findOne({ _id, pending: true }, { readConcern: 'local', ...bounds }),
    );
    return found?.joining?.[0]?.token;
  }
}

/** The write concern of the marks of posts: see fence.ts. */
const ofMarks = { writeConcern: { w: 1, journal: false } } as const;
