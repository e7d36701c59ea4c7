import type { Document } from 'mongodb';
import { RostrumError, storeUnavailable, unknownAuthor } from '../../domain/errors.ts';
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
import { tombstoneCollections } from './collections.ts';
import type { Call } from './connection/call.ts';
import type { Connection } from './connection/connection.ts';
import type { CreationBatcher } from './creation-batcher.ts';
import {
  type EncodedRecord,
  encodeRecord,
  fromBson,
  replacement,
  type StoredRecord,
  waitForIteration,
} from './documents.ts';
import { throwConstraintError } from './errors.ts';
import { limits } from './limits.ts';
import { readPage } from './lists.ts';
import { PointReads } from './point-reads.ts';
import { inTransaction, type Transaction } from './transactions.ts';

abstract class MongodbRepository<R extends User | Post> implements Repository<R> {
  protected readonly connection: Connection;
  readonly #collection: Collection;
  readonly #creations: CreationBatcher;
  readonly #reads: PointReads;
  /** The last change of each record that is being changed: settled when the next one can begin. */
  readonly #changes = new Map<Id, Promise<void>>();

  constructor(connection: Connection, collection: Collection, creations: CreationBatcher) {
    this.connection = connection;
    this.#collection = collection;
    this.#creations = creations;
    this.#reads = new PointReads(connection, collection);
  }

  get(id: Id): Promise<Versioned<R> | undefined> {
    return this.connection.call(async (call) => {
      const stored = await this.#reads.read(call, id);
      return stored && new VersionedRecord<R>(stored.json, stored.version);
    });
  }

  async list({ signal, ...query }: ListQuery): Promise<Page<R>> {
    const copy = copyJson(query);
    const { db } = this.connection;
    return this.connection.call(
      (call) => call.read(() => readPage(db, this.#collection, copy, call)),
      signal,
    );
  }

  async create(record: R, receipt?: Receipt, hints: CreationHints = {}): Promise<Creation<R>> {
    const collection = this.#collection;
    const encoded = encodeRecord(collection, record);
    const { isNewId = false } = hints;
    const request = { collection, encoded, receipt: receipt && { ...receipt }, isNewId };
    const creation = this.connection.call((call) => this.#creations.create({ call, ...request }));
    return creation as Promise<Creation<R>>;
  }

  lastVersion(id: Id): Promise<Version | undefined> {
    const byId = { $match: { _id: id } };
    const deleted = { coll: tombstoneCollections[this.#collection], pipeline: [byId] };
    const pipeline = [byId, { $project: { lastVersion: '$version' } }, { $unionWith: deleted }];
    const collection = this.connection.db.collection(this.#collection);
    return this.connection.read(async ({ maxTimeMS }) => {
      // One snapshot: a record that is deleted meanwhile is in exactly one of the two collections.
      const options = { readConcern: { level: 'snapshot' }, maxTimeMS } as const;
      const [found] = await collection.aggregate(pipeline, options).toArray();
      return found?.lastVersion;
    });
  }

  update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined> {
    return this.connection.call((call) =>
      this.#change(call, id, async (current) => {
        const { version, json, authorId } = current;
        const versioned = new VersionedRecord<R>(json, version);
        const decided = decide(versioned);
        // From the text, because `decide` may have changed the object that it was given.
        if (decided === versioned.record) return new VersionedRecord<R>(json, version);
        const next = encodeRecord(this.#collection, decided);
        const wait = waitForIteration(next.json.length);
        if (wait) await wait;
        const getsAuthor = next.authorId !== null && next.authorId !== authorId;
        const replacing = getsAuthor
          ? this.#replaceInTransaction(call, next, version)
          : this.#replace(call, next, version);
        const isReplaced = await replacing.catch(throwConstraintError);
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
        const { version, json } = current;
        guard?.(new VersionedRecord<R>(json, version));
        return inTransaction(this.connection, call, async (transaction) => {
          const count = await transaction.delete(this.#collection, { _id: id, version });
          if (count === 0) return undefined;
          const result = await changeDependents(transaction, call);
          const tombstone = { _id: id, lastVersion: version };
          await transaction.insert(tombstoneCollections[this.#collection], [tombstone]);
          return result;
        });
      }),
    );
  }

  /**
   * Changes a record, after the changes of it that are in progress here: at the same time they would conflict, and each
   * would have a copy of the record in memory. Retries if another process changed it meanwhile.
   *
   * @param attempt returns undefined if the record is not at the version that it was given
   * @returns undefined if there is no record with this id
   */
  async #change<T>(
    call: Call,
    id: Id,
    attempt: (current: StoredRecord) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const earlier = this.#changes.get(id);
    this.#changes.set(id, ended);
    try {
      await earlier;
      for (let tries = 1; ; tries++) {
        if (call.isOver) throw storeUnavailable(call.outcome);
        const current = await this.#reads.read(call, id);
        const changed = current && (await attempt(current));
        if (current === undefined || changed !== undefined) return changed;
        await call.backOff(tries);
      }
    } finally {
      end();
      if (this.#changes.get(id) === ended) this.#changes.delete(id);
    }
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
      if ((await transaction.lockAuthors([next.authorId])).size > 0) throw unknownAuthor();
      return true;
    });
  }
}

export class MongodbUserRepository extends MongodbRepository<User> implements UserRepository {
  delete(
    id: Id,
    mode: DeleteMode,
    at: Instant,
    guard?: Guard<User>,
  ): Promise<Deletion | undefined> {
    return this.remove(id, guard, async (transaction, call) => {
      const own = { authorId: id };
      const posts = await transaction.count('posts', own);
      if (posts > 0 && mode === 'refuse') throw new RostrumError('user-has-posts', { posts });
      if (posts > limits.postsPerDeletion) {
        const reason = `A user with more than ${limits.postsPerDeletion} posts can't be deleted in one step. Delete some of the posts first.`;
        throw new RostrumError('refused', { reason });
      }
      for (let left = posts; left > 0; left -= limits.documentsPerCommand) {
        call.extend();
        const fields = { version: 1, updatedAt: 1 };
        const found = await transaction.find('posts', own, fields, limits.documentsPerCommand);
        if (mode === 'keep') {
          await transaction.update('posts', withoutAuthors(found, at)).catch(throwConstraintError);
        } else {
          await transaction.delete('posts', { _id: { $in: found.map(({ _id }) => _id) } });
          const tombstones = found.map(({ _id, version }) => ({ _id, lastVersion: version }));
          await transaction.insert(tombstoneCollections.posts, tombstones);
        }
      }
      return { posts };
    });
  }
}

export class MongodbPostRepository extends MongodbRepository<Post> implements PostRepository {
  async delete(id: Id, guard?: Guard<Post>): Promise<boolean> {
    return (await this.remove(id, guard, async () => true)) ?? false;
  }
}

/** Returns the updates that change posts as `withoutAuthor` does: one for all posts with the same new `updatedAt`. */
function withoutAuthors(found: readonly Document[], at: Instant): Document[] {
  const changes = Map.groupBy(found, ({ updatedAt }) =>
    nextInstant(String(fromBson(updatedAt)), at),
  );
  return [...changes].map(([updatedAt, posts]) => ({
    q: { _id: { $in: posts.map(({ _id }) => _id) } },
    u: { $set: { authorId: null, updatedAt: new Date(updatedAt) }, $inc: { version: 1 } },
    multi: true,
  }));
}
