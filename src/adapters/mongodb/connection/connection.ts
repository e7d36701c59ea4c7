import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientSession, Collection, Db, MongoClient } from 'mongodb';
import type { CustomFilters } from '../../../domain/declared-fields.ts';
import { RostrumError, storeUnavailable } from '../../../domain/errors.ts';
import type { Logger } from '../../../ports/logger.ts';
import { collectionNames } from '../schema/collections.ts';
import type { StoredPost, StoredUser } from '../schema/documents.ts';
import { Call, type Intercept, withTimeout } from './call.ts';
import type { ClientSettings } from './client-options.ts';
import { limits } from './limits.ts';
import { Opening } from './opening.ts';
import { PrimaryWatch } from './primary-watch.ts';

/**
 * The connection of a store: made in the background, kept up by the driver, closed once. Every
 * call of the ports goes through it, so that none lasts too long or outlives it.
 */
export class Connection {
  readonly db: Db;
  readonly users: Collection<StoredUser>;
  readonly posts: Collection<StoredPost>;
  readonly #client: MongoClient;
  readonly #opening: Opening;
  readonly #watch: PrimaryWatch;
  readonly #intercept: Intercept;
  readonly #underWay = new Set<Promise<unknown>>();
  #closed: Promise<void> | undefined;

  constructor(
    settings: ClientSettings,
    logger: Logger | undefined,
    intercept: Intercept,
    customFilters?: CustomFilters,
  ) {
    const { client, database } = settings;
    this.#client = client;
    this.#intercept = intercept;
    this.#watch = new PrimaryWatch(() =>
      this.users.findOne({ _id: '' }, { ...linearizable, maxTimeMS: limits.operationMs }),
    );
    client.on('topologyDescriptionChanged', ({ newDescription }) =>
      this.#watch.see([...newDescription.servers.values()]),
    );
    this.#opening = new Opening(settings, logger, customFilters);
    this.db = client.db(database);
    this.users = this.db.collection(collectionNames.users);
    this.posts = this.db.collection(collectionNames.posts);
  }

  /** True when changes of several documents can be made in one step. */
  get hasTransactions(): boolean {
    return this.#opening.topology !== 'standalone';
  }

  get isSharded(): boolean {
    return this.#opening.topology === 'sharded cluster';
  }

  /**
   * Runs one call of a port.
   *
   * @param signal ends the call for its caller at once, and what the driver does for it soon
   */
  async call<T>(body: (call: Call) => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (!this.#closed && this.#underWay.size >= limits.calls)
      throw new RostrumError('overloaded', {});
    return this.#run(body, signal);
  }

  /** Runs work in a session, and ends it. */
  async inSession<T>(
    options: { readonly snapshot?: boolean },
    work: (session: ClientSession) => Promise<T>,
  ): Promise<T> {
    const session = this.#client.startSession(options);
    try {
      return await work(session);
    } finally {
      // Ending may have to tell the server of a transaction; the call need not wait for that.
      session.endSession().catch(() => {});
    }
  }

  /** Ignores the bound on calls: a busy store is ready. */
  async ready(): Promise<void> {
    await this.#run((call) =>
      call.read(({ maxTimeMS }) => {
        const ping = this.db.command({ ping: 1, maxTimeMS });
        return withTimeout(limits.openingMs, ping, () => storeUnavailable('none'));
      }),
    );
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #run<T>(body: (call: Call) => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#closed) throw storeUnavailable('none');
    const begin = () => body(new Call(this.#watch, this.#intercept, signal));
    const work = this.#opening.wait().then(begin);
    this.#underWay.add(work);
    const end = () => this.#underWay.delete(work);
    work.then(end, end);
    return signal === undefined ? work : untilAborted(work, signal);
  }

  async #close(): Promise<void> {
    // Let calls wait for a server that may be there, but not for one that is known to be away.
    const hopeless = this.#underWay.size === 0 || this.#opening.problem !== undefined;
    if (this.#opening.topology === undefined && hopeless) this.#opening.giveUp();
    const idle = Promise.allSettled(this.#underWay);
    await Promise.race([idle, sleep(limits.closingMs, undefined, { ref: false })]);
    this.#opening.giveUp();
    const goodbye = this.#client.close().catch(() => {});
    await Promise.race([goodbye, sleep(limits.goodbyeMs, undefined, { ref: false })]);
  }
}

/** The result of some work, or the reason of a signal that is aborted before. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  return Promise.race([promise, work]).finally(() => signal.removeEventListener('abort', abort));
}

/**
 * Such a read waits until a majority has a write of this primary, and so all before it:
 * https://www.mongodb.com/docs/manual/reference/read-concern-linearizable/
 */
const linearizable = { readConcern: 'linearizable', projection: { _id: 1 } } as const;
