import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientSession, Collection, MongoClient } from 'mongodb';
import { overloaded, storeUnavailable } from '../../domain/errors.ts';
import type { Logger } from '../../ports/logger.ts';
import { Call, type Intercept, within } from './call.ts';
import type { ClientSettings } from './client-options.ts';
import type { StoredPost, StoredUser } from './documents.ts';
import { limits } from './limits.ts';
import { opened, type Topology } from './opening.ts';
import { Sightings } from './sightings.ts';

/**
 * The connection of a store: made in the background, kept up by the driver, closed once. Every
 * call of the ports goes through it, so that none lasts too long or outlives it.
 */
export class Connection {
  readonly users: Collection<StoredUser>;
  readonly posts: Collection<StoredPost>;
  readonly #client: MongoClient;
  readonly #database: string;
  readonly #intercept: Intercept;
  readonly #sightings: Sightings;
  readonly #closing = new AbortController();
  readonly #opening: Promise<Topology>;
  readonly #underWay = new Set<Promise<unknown>>();
  #topology: Topology | undefined;
  #problem: unknown;
  #closed: Promise<void> | undefined;

  constructor({ client, database }: ClientSettings, logger: Logger | undefined, around: Intercept) {
    this.#client = client;
    this.#database = database;
    this.#intercept = around;
    this.#sightings = new Sightings(client);
    this.users = client.db(database).collection('users');
    this.posts = client.db(database).collection('posts');
    this.#opening = opened(client, database, {
      logger,
      signal: this.#closing.signal,
      onProblem: (problem) => {
        this.#problem = problem;
      },
    });
    this.#opening.then(
      (topology) => {
        this.#topology = topology;
      },
      () => {}, // Closed before it was open: every call says so.
    );
  }

  /** True when changes of several documents can be made in one step. */
  get hasTransactions(): boolean {
    return this.#topology !== 'standalone';
  }

  /** Runs one call of a port. */
  async call<T>(body: (call: Call) => Promise<T>): Promise<T> {
    if (this.#closed) throw storeUnavailable('none');
    if (this.#underWay.size >= limits.calls) throw overloaded();
    const work = this.#whenOpen().then(() => body(new Call(this.#sightings, this.#intercept)));
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
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

  async ready(): Promise<void> {
    await this.call((call) =>
      call.read((bounds) => {
        const ping = this.#client.db(this.#database).command({ ping: 1, ...bounds });
        return within(limits.openingMs, ping, () => storeUnavailable('none', this.#problem));
      }),
    );
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #whenOpen(): Promise<void> {
    if (this.#topology !== undefined) return;
    const late = () => storeUnavailable('none', this.#problem);
    try {
      await within(limits.openingMs, this.#opening, late);
    } catch {
      throw late();
    }
  }

  async #close(): Promise<void> {
    // Nothing can be under way on a server that was never reached.
    if (this.#topology === undefined) this.#closing.abort();
    const idle = Promise.allSettled(this.#underWay);
    await Promise.race([idle, sleep(limits.closingMs, undefined, { ref: false })]);
    this.#closing.abort();
    const goodbye = this.#client.close().catch(() => {});
    await Promise.race([goodbye, sleep(limits.goodbyeMs, undefined, { ref: false })]);
  }
}
