import type { Document } from 'mongodb';
import { RostrumError, unknownAuthor } from '../../domain/errors.ts';
import type { ListQuery, Page } from '../../domain/lists/list.ts';
import { type Instant, nextInstant } from '../../domain/records/instant.ts';
import { copyJson } from '../../domain/records/json.ts';
import type { Post } from '../../domain/records/post.ts';
import type { Receipt } from '../../domain/records/receipt.ts';
import {
  type Collection,
  type Id,
  type Version,
  type Versioned,
  VersionedRecord,
} from '../../domain/records/record.ts';
import type { User } from '../../domain/records/user.ts';
import type { PostRepository } from '../../ports/post-repository.ts';
import type { Creation, CreationHints, Decide, Guard, Repository } from '../../ports/repository.ts';
import type { DeleteMode, Deletion, UserRepository } from '../../ports/user-repository.ts';
import type { Call } from './call.ts';
import type { Connection } from './connection.ts';
import type { Creations } from './creations.ts';
import { type EncodedRecord, encode, replacement, versionedOf } from './documents.ts';
import { withRecordErrors } from './errors.ts';
import { deletedCollections } from './layout.ts';
import { limits } from './limits.ts';
import { readPage } from './lists.ts';
import { PointReads } from './point-reads.ts';
import { inTransaction, type Transaction } from './transactions.ts';

/** What users and posts have in common. */
abstract class MongodbRepository<R extends User | Post> implements Repository<R> {
  protected readonly connection: Connection;
  readonly #collection: Collection;
  readonly #creations: Creations;
  readonly #reads: PointReads;

  constructor(connection: Connection, collection: Collection, creations: Creations) {
    this.connection = connection;
    this.#collection = collection;
    this.#creations = creations;
    this.#reads = new PointReads(connection, collection);
  }

  get(id: Id): Promise<Versioned<R> | undefined> {
    return this.connection.call((call) => this.#read(call, id));
  }

  async list({ signal, ...query }: ListQuery): Promise<Page<R>> {
    const copy = copyJson(query);
    const { db } = this.connection;
    return this.connection.read((_, call) => readPage(db, this.#collection, copy, call), signal);
  }

  async create(record: R, receipt?: Receipt, hints: CreationHints = {}): Promise<Creation<R>> {
    const collection = this.#collection;
    const encoded = encode(collection, record);
    const keyed = receipt && { ...receipt, id: `${collection} ${receipt.key}` };
    const { isNewId = false } = hints;
    const creation = this.connection.call((call) =>
      this.#creations.create({ call, collection, encoded, receipt: keyed, isNewId }),
    );
    return creation as Promise<Creation<R>>;
  }

  lastVersion(id: Id): Promise<Version | undefined> {
    const byId = { $match: { _id: id } };
    const deleted = { coll: deletedCollections[this.#collection], pipeline: [byId] };
    const pipeline = [byId, { $project: { last: '$version' } }, { $unionWith: deleted }];
    const collection = this.connection.db.collection(this.#collection);
    return this.connection.read(async ({ maxTimeMS }) => {
      // One snapshot: a record that is deleted meanwhile is in exactly one of the two collections.
      const options = { readConcern: { level: 'snapshot' }, maxTimeMS } as const;
      const [found] = await collection.aggregate(pipeline, options).toArray();
      return found?.last;
    });
  }

  update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined> {
    return this.connection.call((call) =>
      this.#change(call, id, async (current) => {
        const { version, json } = current;
        const { authorId } = current.record as Partial<Post>;
        const decided = decide(current);
        // From the text, because `decide` may have changed the object that it was given.
        if (decided === current.record) return new VersionedRecord<R>(json, version);
        const next = encode(this.#collection, decided);
        const isMoved = next.authorId !== null && next.authorId !== authorId;
        const isReplaced = await withRecordErrors(
          isMoved
            ? this.#replaceInTransaction(call, next, version)
            : this.#replace(call, next, version),
        );
        return isReplaced ? new VersionedRecord<R>(next.json, version + 1) : undefined;
      }),
    );
  }

  /**
   * Deletes a record, if `guard` allows it.
   *
   * @param changeDependents deletes or changes what depends on the record. The record comes first: from then on, a
   * transaction that makes another record depend on it conflicts with this one.
   * @returns what `changeDependents` returns; undefined if there is no record with this id
   */
  protected remove<T>(
    id: Id,
    guard: Guard<R> | undefined,
    changeDependents: (transaction: Transaction, call: Call) => Promise<T>,
  ): Promise<T | undefined> {
    return this.connection.call((call) =>
      this.#change(call, id, (current) => {
        guard?.(current);
        const { version } = current;
        return inTransaction(this.connection, call, async (transaction) => {
          const count = await transaction.delete(this.#collection, { _id: id, version });
          if (count === 0) return undefined;
          const result = await changeDependents(transaction, call);
          await transaction.insert(deletedCollections[this.#collection], [
            { _id: id, last: version },
          ]);
          return result;
        });
      }),
    );
  }

  /**
   * Changes a record. Retries if another call changed it meanwhile.
   *
   * @param attempt returns undefined if the record is not at the version that it was given
   * @returns undefined if there is no record with this id
   */
  async #change<T>(
    call: Call,
    id: Id,
    attempt: (current: VersionedRecord<R>) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    for (let tries = 1; ; tries++) {
      const current = await this.#read(call, id);
      if (current === undefined) return undefined;
      const changed = await attempt(current);
      if (changed !== undefined) return changed;
      await call.backOff(tries);
    }
  }

  async #read(call: Call, id: Id): Promise<VersionedRecord<R> | undefined> {
    const stored = await this.#reads.read(call, id);
    return stored && versionedOf<R>(stored);
  }

  async #replace(call: Call, next: EncodedRecord, version: Version): Promise<boolean> {
    const collection = this.connection.db.collection<{ _id: Id }>(this.#collection);
    const update = replacement(next, version + 1);
    call.outcome = 'unknown';
    const { matchedCount } = await call.run(({ maxTimeMS }) =>
      collection.updateOne({ _id: next.id, version }, update, { maxTimeMS }),
    );
    if (matchedCount === 0) call.outcome = 'none';
    return matchedCount === 1;
  }

  #replaceInTransaction(call: Call, next: EncodedRecord, version: Version): Promise<boolean> {
    return inTransaction(this.connection, call, async (transaction) => {
      const statement = { q: { _id: next.id, version }, u: replacement(next, version + 1) };
      if ((await transaction.update(this.#collection, [statement])) === 0) return false;
      if ((await transaction.touchAuthors([next.authorId])).size > 0) throw unknownAuthor();
      return true;
    });
  }
}

export class MongodbUsers extends MongodbRepository<User> implements UserRepository {
  constructor(connection: Connection, creations: Creations) {
    super(connection, 'users', creations);
  }

  delete(
    id: Id,
    mode: DeleteMode,
    at: Instant,
    guard?: Guard<User>,
  ): Promise<Deletion | undefined> {
    return this.remove(id, guard, (transaction, call) =>
      deleteOrKeepPosts(transaction, call, id, mode, at),
    );
  }
}

export class MongodbPosts extends MongodbRepository<Post> implements PostRepository {
  constructor(connection: Connection, creations: Creations) {
    super(connection, 'posts', creations);
  }

  async delete(id: Id, guard?: Guard<Post>): Promise<boolean> {
    return (await this.remove(id, guard, async () => true)) ?? false;
  }
}

interface FoundPost {
  readonly _id: Id;
  readonly version: Version;
  readonly updatedAt: Instant;
}

/**
 * Deletes the posts of an author, or keeps them without the author.
 *
 * @throws RostrumError `user-has-posts`, `refused`
 */
async function deleteOrKeepPosts(
  transaction: Transaction,
  call: Call,
  authorId: Id,
  mode: DeleteMode,
  at: Instant,
): Promise<Deletion> {
  const posts = await transaction.count('posts', { authorId });
  if (posts > 0 && mode === 'refuse') throw new RostrumError('user-has-posts', { posts });
  if (posts > limits.postsPerDeletion) {
    const reason = `A user with more than ${limits.postsPerDeletion} posts can't be deleted in one step. Delete some of the posts first.`;
    throw new RostrumError('refused', { reason });
  }
  for (let left = posts; left > 0; left -= limits.documentsPerCommand) {
    call.extend();
    const fields = { version: 1, updatedAt: 1 };
    const found = (await transaction.find('posts', { authorId }, fields)) as FoundPost[];
    if (mode === 'delete') await deletePosts(transaction, found);
    else await transaction.update('posts', withoutAuthors(found, at));
  }
  return { posts };
}

async function deletePosts(transaction: Transaction, posts: readonly FoundPost[]): Promise<void> {
  await transaction.delete('posts', { _id: { $in: posts.map(({ _id }) => _id) } });
  const ids = posts.map(({ _id, version }) => ({ _id, last: version }));
  await transaction.insert(deletedCollections.posts, ids);
}

/** Makes the change of `withoutAuthor` without sending the posts: the changed members stand beside the JSON. */
function withoutAuthors(found: readonly FoundPost[], at: Instant): Document[] {
  const changes = Map.groupBy(found, ({ updatedAt }) => nextInstant(updatedAt, at));
  return [...changes].map(([updatedAt, posts]) => {
    const change = { authorId: null, updatedAt };
    return {
      q: { _id: { $in: posts.map(({ _id }) => _id) } },
      u: { $set: { ...change, override: change }, $inc: { version: 1 } },
      multi: true,
    };
  });
}
