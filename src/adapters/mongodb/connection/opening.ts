import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MongoClient } from 'mongodb';
import type { CustomFilters } from '../../../domain/declared-fields.ts';
import { storeUnavailable } from '../../../domain/errors.ts';
import type { LogFields, Logger } from '../../../ports/logger.ts';
import { MigrationUnderWay } from '../migration/lease.ts';
import { migrate } from '../migration/migration.ts';
import { MongodbRefusal } from '../schema/refusal.ts';
import { ensureSchema } from '../schema/schema.ts';
import { withTimeout } from './call.ts';
import type { ClientSettings } from './client-options.ts';
import { limits } from './limits.ts';

export type Topology = 'standalone' | 'replica set' | 'sharded cluster';

/** Connects for the first time and makes the indexes; tries again until it is done or given up. */
export class Opening {
  readonly #client: MongoClient;
  readonly #database: string;
  readonly #logger: Logger | undefined;
  readonly #customFilters: CustomFilters;
  readonly #end = new AbortController();
  /** What this process is called where one migrates the database for all. */
  readonly #name = randomUUID();
  #news = quietly(Promise.withResolvers<void>());
  #topology: Topology | undefined;
  #problem: unknown;

  constructor(
    { client, database }: ClientSettings,
    logger: Logger | undefined,
    customFilters: CustomFilters = {},
  ) {
    this.#client = client;
    this.#database = database;
    this.#logger = logger;
    this.#customFilters = customFilters;
    this.#try().catch(() => {}); // Given up: `wait` says so.
  }

  /** The servers behind the connection; undefined until it is open. */
  get topology(): Topology | undefined {
    return this.#topology;
  }

  /** Why it is not open yet, as far as is known. */
  get problem(): unknown {
    return this.#problem;
  }

  /**
   * Waits a while for it to be open.
   *
   * @throws RostrumError `store-unavailable`
   */
  async wait(): Promise<void> {
    if (this.#topology !== undefined) return;
    const late = () => storeUnavailable('none', this.#problem);
    // For a server that may come it pays to wait; a schema that is in the way stays there.
    if (this.#end.signal.aborted || this.#problem instanceof MongodbRefusal) throw late();
    await withTimeout(limits.openingMs, this.#news.promise, late);
  }

  giveUp(): void {
    this.#end.abort();
    this.#news.reject(storeUnavailable('none', this.#problem));
  }

  async #try(): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      const began = Date.now();
      try {
        this.#topology = await this.#open();
        this.#news.resolve();
        return;
      } catch (problem) {
        if (!signal.aborted) this.#tell(problem);
      }
      // Before it was refused it may have looked at every post.
      const took = this.#problem instanceof MongodbRefusal ? Date.now() - began : 0;
      await sleep(Math.max(limits.reconnectMs, took), undefined, { signal });
    }
  }

  async #open(): Promise<Topology> {
    await this.#client.connect();
    const db = this.#client.db(this.#database);
    const { setName, msg, maxWireVersion, arbiters = [] } = await db.command({ hello: 1 });
    if (maxWireVersion < oldestWireVersion) {
      throw new MongodbRefusal('This MongoDB server is too old: Rostrum needs 5.0 or newer.');
    }
    const topology: Topology =
      msg === 'isdbgrid' ? 'sharded cluster' : setName ? 'replica set' : 'standalone';
    await migrate(db, this.#name, {
      info: (fields, message) => this.#tellOfMigration(fields, message),
      warn: (fields, message) => this.#logger?.warn(fields, message),
    });
    await ensureSchema(db, this.#customFilters);
    const fields = { database: this.#database, topology };
    this.#logger?.info(fields, 'Connected to MongoDB.');
    if (topology === 'standalone') this.#logger?.warn(fields, standaloneWarning);
    if (arbiters.length > 0) this.#logger?.warn({ ...fields, arbiters }, arbiterWarning);
    return topology;
  }

  #tellOfMigration(fields: LogFields, message: string): void {
    this.#problem = new MigrationUnderWay(message);
    this.#logger?.info({ database: this.#database, ...fields }, message);
  }

  #tell(problem: unknown): void {
    const isNew = lineOf(problem) !== lineOf(this.#problem);
    this.#problem = problem;
    const refused = problem instanceof MongodbRefusal;
    if (refused) {
      this.#news.reject(storeUnavailable('none', problem));
      this.#news = quietly(Promise.withResolvers<void>());
    }
    // Once, and not twice a second for as long as it lasts.
    if (!isNew) return;
    const { hosts, srvHost } = this.#client.options;
    const fields = { database: this.#database, hosts: srvHost ?? hosts.join() };
    const reason = problem instanceof Error ? problem.message : String(problem);
    if (refused) this.#logger?.error(fields, lineOf(problem));
    else if (problem instanceof MigrationUnderWay) this.#logger?.info(fields, lineOf(problem));
    else this.#logger?.warn({ ...fields, reason }, lineOf(problem));
    this.#logger?.debug?.({ err: problem }, 'The error of the driver.');
  }
}

function lineOf(problem: unknown): string {
  if (problem === undefined) return '';
  return problem instanceof MongodbRefusal || problem instanceof MigrationUnderWay
    ? problem.message
    : 'MongoDB cannot be reached: it is tried again and again, and calls fail until it can be.';
}

/** A promise that may be rejected while no call waits for it. */
function quietly<T>(resolvers: PromiseWithResolvers<T>): PromiseWithResolvers<T> {
  resolvers.promise.catch(() => {});
  return resolvers;
}

/** Of MongoDB 5.0: the first to read snapshots, and to take any key in an embedded document. */
const oldestWireVersion = 13;

const arbiterWarning =
  'This replica set has an arbiter, which votes and keeps no data: while one of the other members is ' +
  'away, a majority may not have what is written, and then changes, and reads after an election, ' +
  'are 503. Put a member that keeps data in its place.';

const standaloneWarning =
  'This MongoDB server stands alone: it has no transactions, so a reader may see a user half ' +
  'deleted with their posts, and a write whose connection breaks is not tried again. Start it ' +
  'with --replSet rs0 and run rs.initiate() in mongosh once: a replica set of one has both.';
