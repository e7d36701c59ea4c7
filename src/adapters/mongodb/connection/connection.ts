import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, type Document, MongoMissingDependencyError } from 'mongodb';
import { RostrumError, storeUnavailable } from '../../../domain/errors.ts';
import { DeclarationError, type DeclaredFields } from '../../../domain/fields/declared-fields.ts';
import type { Logger } from '../../../ports/logger.ts';
import { declareFields } from '../declared-fields.ts';
import { MongodbStoreError } from '../errors.ts';
import { prepareLayout } from '../layout.ts';
import { limits } from '../limits.ts';
import { Call, type CommandOptions, Primary } from './call.ts';

/**
 * A store's connection: opened in the background, maintained by the driver, closed once. Every port call goes
 * through it, which bounds their number and their time.
 */
export class Connection {
  readonly db: Db;
  /** The declared fields: first those in the options, and once the store is open, all of the database. */
  declaredFields: DeclaredFields;
  readonly #logger: Logger;
  readonly #primary: Primary;
  readonly #inProgress = new Set<Promise<unknown>>();
  #isOpen = false;
  /** The last attempt to open the store. Never rejected. */
  #attempt: Promise<void>;
  /** Why the first connection failed. */
  #problem: unknown;
  #lastLogged = '';
  #isStopped = false;
  #closed: Promise<void> | undefined;

  constructor(db: Db, logger: Logger, declaredFields: DeclaredFields) {
    this.db = db;
    this.declaredFields = declaredFields;
    this.#logger = logger;
    this.#primary = new Primary(() => db.command(linearizableRead));
    db.client.on('topologyDescriptionChanged', ({ newDescription }) =>
      this.#primary.observe([...newDescription.servers.values()]),
    );
    this.#attempt = this.#open();
  }

  /**
   * Runs one port call.
   *
   * @param signal ends the call, and its command on the server
   */
  async call<T>(body: (call: Call) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const isFull = !this.#closed && this.#inProgress.size >= limits.concurrentCalls;
    if (isFull) throw new RostrumError('overloaded', {});
    return this.#run(body, signal);
  }

  /** Runs a read-only call as one step that can be repeated. */
  read<T>(step: (options: CommandOptions) => Promise<T>): Promise<T> {
    return this.call((call) => call.read(step));
  }

  /** Returns a call for work that several callers wait for. */
  sharedCall(): Call {
    return new Call(this.#primary);
  }

  /**
   * Never rejected by the limit on calls: a busy store is ready. The ping can wait for a free connection, so a
   * read by any other call is proof enough. The error has a cause, unless the store is still being opened.
   */
  async ready(): Promise<void> {
    const ping = this.#run((call) => call.read(() => this.db.command({ ping: 1 })));
    const anyRead = Promise.race([ping, this.#primary.nextRead]);
    if ((await withTimeout(limits.openingMs, anyRead)) !== undefined) return;
    const silence = this.#isOpen ? new Error('MongoDB does not respond.') : undefined;
    throw storeUnavailable('none', this.#problem ?? silence);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #run<T>(body: (call: Call) => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#closed) throw storeUnavailable('none');
    signal?.throwIfAborted();
    const call = new Call(this.#primary, signal);
    const work = call.within(this.#waitUntilOpen().then(() => body(call)));
    this.#inProgress.add(work);
    try {
      return await work;
    } finally {
      this.#inProgress.delete(work);
    }
  }

  /** Makes the first connection. If that fails, begins the next attempt. */
  async #open(): Promise<void> {
    try {
      const { topology, arbiters } = await connect(this.db);
      this.#problem = undefined; // The rest can take long.
      // The first read waits for this. On an idle server it takes up to 0.1 s, so it begins early.
      this.#primary.term.confirm().catch(() => {});
      await prepareLayout(this.db, this.#logger);
      this.declaredFields = await declareFields(this.db, this.declaredFields, this.#logger);
      this.#isOpen = true;
      const fields = { database: this.db.databaseName, topology };
      this.#logger.info(fields, 'Connected to MongoDB.');
      if (arbiters.length > 0) this.#logger.warn({ ...fields, arbiters }, arbiterWarning);
    } catch (error) {
      const problem = missingPackage(error) ?? error;
      if (this.#isStopped) return;
      this.#report(problem);
      // Not retried: each attempt stores pending declarations, and other processes then reject values that break them.
      if (problem instanceof DeclarationError) return;
      this.#attempt = this.#openLater();
    }
  }

  async #openLater(): Promise<void> {
    await sleep(limits.reconnectMs, undefined, { ref: false });
    if (!this.#isStopped) await this.#open();
  }

  /** @throws RostrumError `store-unavailable` if opening takes too long */
  async #waitUntilOpen(): Promise<void> {
    const end = performance.now() + limits.openingMs;
    while (!this.#isOpen) {
      const left = end - performance.now();
      // A server that cannot be reached may respond soon. A rejected one has to be changed by its operator first.
      const isOver = this.#isStopped || needsOperator(this.#problem);
      if (isOver || left <= 0) throw storeUnavailable('none', this.#problem);
      await withTimeout(left, this.#attempt);
    }
  }

  /** Logs a problem, but only once while it lasts. */
  #report(problem: unknown): void {
    this.#problem = problem;
    const { name, code, message } = problem as Error & { readonly code?: unknown };
    const kind = needsOperator(problem) ? message : `${code ?? name}`;
    if (kind === this.#lastLogged) return;
    this.#lastLogged = kind;
    const { client, databaseName } = this.db;
    const { hosts, srvHost } = client.options;
    const fields = { database: databaseName, hosts: srvHost ?? hosts.join() };
    if (needsOperator(problem)) this.#logger.error(fields, message);
    else this.#logger.warn({ ...fields, reason: message }, notOpen);
    this.#logger.debug?.({ err: problem }, 'The driver error.');
  }

  async #close(): Promise<void> {
    await withTimeout(limits.closingMs, Promise.allSettled(this.#inProgress));
    this.#isStopped = true;
    await withTimeout(limits.driverCloseMs, this.db.client.close()).catch(() => {});
  }
}

/** @throws MongodbStoreError if the server cannot be used */
async function connect(db: Db) {
  await db.client.connect();
  const { setName, msg, maxWireVersion, arbiters = [] } = await db.command({ hello: 1 });
  if (maxWireVersion < oldestWireVersion) {
    throw new MongodbStoreError('This MongoDB server is too old: Rostrum needs 5.0 or newer.');
  }
  const isSharded = msg === 'isdbgrid';
  if (!isSharded && setName === undefined) throw new MongodbStoreError(standalone);
  return { topology: isSharded ? 'sharded cluster' : 'replica set', arbiters };
}

/** Finds out whether an option of the connection string needs a package that is not installed. */
function missingPackage(error: unknown): MongodbStoreError | undefined {
  if (!(error instanceof MongoMissingDependencyError)) {
    return error instanceof Error ? missingPackage(error.cause) : undefined;
  }
  const name = error.dependencyName;
  return new MongodbStoreError(
    `The connection string needs the package ${name}, which is not installed: run \`npm i ${name}\`.`,
  );
}

/** MongoDB 5.0, the first version with snapshot reads. */
const oldestWireVersion = 13;

const standalone =
  'This MongoDB server is standalone, but Rostrum needs a replica set: start it with --replSet rs0, run ' +
  'rs.initiate() in mongosh once, and it is a replica set of one.';

const arbiterWarning =
  'This replica set has an arbiter, which votes but stores no data. While another member is down, changes, ' +
  'and reads after an election, can fail with 503. Replace it with a data-bearing member.';

/** True if an operator has to change something first. */
function needsOperator(problem: unknown): problem is Error {
  return problem instanceof MongodbStoreError || problem instanceof DeclarationError;
}

const notOpen =
  'The MongoDB database cannot be opened yet. Rostrum keeps trying, and calls fail until it succeeds.';

function withTimeout<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  return Promise.race([work, sleep(ms, undefined, { ref: false })]);
}

/**
 * Waits until a majority has replicated a write by this primary, and so every earlier write:
 * https://www.mongodb.com/docs/manual/reference/read-concern-linearizable/
 */
const linearizableRead: Document = {
  find: 'users',
  filter: { _id: '' },
  projection: { _id: 1 },
  readConcern: { level: 'linearizable' },
  maxTimeMS: limits.commandMs,
};
