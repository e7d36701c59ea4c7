import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { storeUnavailable } from '../../../domain/errors.ts';
import { DeclarationError, type DeclaredFields } from '../../../domain/fields/declared-fields.ts';
import type { Logger } from '../../../ports/logger.ts';
import { declareFields } from '../declared-fields.ts';
import { MongodbStoreError } from '../errors.ts';
import { ensureLayout } from '../layout.ts';
import { limits } from '../limits.ts';

/** Makes the first connection and prepares the database. Retries until it succeeds or `giveUp` is called. */
export class Startup {
  readonly #db: Db;
  readonly #logger: Logger;
  /** Those that the store was opened with; once it is open, all those of the database. */
  declaredFields: DeclaredFields;
  #isOpen = false;
  #hasGivenUp = false;
  #problem: unknown;
  #lastLogged = '';

  constructor(db: Db, logger: Logger, declaredFields: DeclaredFields) {
    this.#db = db;
    this.#logger = logger;
    this.declaredFields = declaredFields;
    void this.#tryUntilOpen();
  }

  /** Waits until the store is open. Throws `store-unavailable` if that takes too long. */
  async wait(): Promise<void> {
    const end = performance.now() + limits.openingMs;
    while (!this.#isOpen) {
      // A server that cannot be reached may respond soon. A rejected one has to be changed by its operator first.
      const isOver = this.#hasGivenUp || isRejection(this.#problem);
      if (isOver || performance.now() > end) throw storeUnavailable('none', this.#problem);
      await sleep(limits.openingCheckMs);
    }
  }

  giveUp(): void {
    this.#hasGivenUp = true;
  }

  async #tryUntilOpen(): Promise<void> {
    while (!this.#hasGivenUp) {
      try {
        await this.#open();
        this.#isOpen = true;
        return;
      } catch (problem) {
        if (!this.#hasGivenUp) this.#report(problem);
        // Each try declares the fields as pending, so that other processes reject their values.
        if (problem instanceof DeclarationError) return;
      }
      await sleep(limits.reconnectMs, undefined, { ref: false });
    }
  }

  async #open(): Promise<void> {
    const db = this.#db;
    await db.client.connect();
    const { setName, msg, maxWireVersion, arbiters = [] } = await db.command({ hello: 1 });
    if (maxWireVersion < oldestWireVersion) {
      throw new MongodbStoreError('This MongoDB server is too old: Rostrum needs 5.0 or newer.');
    }
    const isSharded = msg === 'isdbgrid';
    if (!isSharded && setName === undefined) throw new MongodbStoreError(standalone);
    await ensureLayout(db, this.#logger);
    this.declaredFields = await declareFields(db, this.declaredFields, this.#logger);
    const topology = isSharded ? 'sharded cluster' : 'replica set';
    const fields = { database: db.databaseName, topology };
    this.#logger.info(fields, 'Connected to MongoDB.');
    if (arbiters.length > 0) this.#logger.warn({ ...fields, arbiters }, arbiterWarning);
  }

  /** Logs a problem, but only once while it lasts. */
  #report(problem: unknown): void {
    this.#problem = problem;
    const { name, code, message } = problem as Error & { readonly code?: unknown };
    const kind = isRejection(problem) ? message : `${code ?? name}`;
    if (kind === this.#lastLogged) return;
    this.#lastLogged = kind;
    const { client, databaseName } = this.#db;
    const { hosts, srvHost } = client.options;
    const fields = { database: databaseName, hosts: srvHost ?? hosts.join() };
    if (isRejection(problem)) this.#logger.error(fields, message);
    else this.#logger.warn({ ...fields, reason: message }, notOpen);
    this.#logger.debug?.({ err: problem }, 'The driver error.');
  }
}

/** True if an operator has to change something first. */
function isRejection(problem: unknown): problem is Error {
  return problem instanceof MongodbStoreError || problem instanceof DeclarationError;
}

/** MongoDB 5.0, the first version with snapshot reads. */
const oldestWireVersion = 13;

const notOpen =
  'The MongoDB database cannot be opened yet. Rostrum keeps trying, and calls fail until it succeeds.';

const standalone =
  'This MongoDB server is standalone, but Rostrum needs a replica set: start it with --replSet rs0, run ' +
  'rs.initiate() in mongosh once, and it is a replica set of one.';

const arbiterWarning =
  'This replica set has an arbiter, which votes but stores no data. While another member is down, changes, ' +
  'and reads after an election, can fail with 503. Replace it with a data-bearing member.';
