import { setTimeout as sleep } from 'node:timers/promises';
import type { Db, Document } from 'mongodb';
import { RostrumError, storeUnavailable } from '../../../domain/errors.ts';
import type { DeclaredFields } from '../../../domain/fields/declared-fields.ts';
import type { Logger } from '../../../ports/logger.ts';
import { limits } from '../limits.ts';
import { type Bounds, Call, Primary } from './call.ts';
import { Startup } from './startup.ts';

/**
 * A store's connection: opened in the background, maintained by the driver, closed once. Every port call goes
 * through it, which bounds their number and their time.
 */
export class Connection {
  readonly db: Db;
  readonly #startup: Startup;
  readonly #primary: Primary;
  readonly #inProgress = new Set<Promise<unknown>>();
  #closed: Promise<void> | undefined;

  constructor(db: Db, logger: Logger, declaredFields: DeclaredFields) {
    this.db = db;
    this.#primary = new Primary(() => db.command(linearizableRead));
    db.client.on('topologyDescriptionChanged', ({ newDescription }) =>
      this.#primary.update([...newDescription.servers.values()]),
    );
    this.#startup = new Startup(db, logger, declaredFields);
  }

  /** See {@link Startup.declaredFields}. */
  get declaredFields(): DeclaredFields {
    return this.#startup.declaredFields;
  }

  /**
   * Runs one port call.
   *
   * @param signal ends the call, and its command on the server
   */
  async call<T>(body: (call: Call) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const isFull = !this.#closed && this.#inProgress.size >= limits.calls;
    if (isFull) throw new RostrumError('overloaded', {});
    return this.#run(body, signal);
  }

  /** Runs a read-only call as one step that can be repeated. */
  read<T>(step: (bounds: Bounds, call: Call) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.call((call) => call.read((bounds) => step(bounds, call)), signal);
  }

  /** Returns a call for work that several callers wait for. */
  sharedCall(): Call {
    return new Call(this.#primary);
  }

  /**
   * Never rejected by the limit on calls: a busy store is ready. The ping can wait for a connection, so a read of
   * another call will do.
   */
  async ready(): Promise<void> {
    const ping = this.#run((call) => call.read(() => this.db.command({ ping: 1 })));
    const anyRead = Promise.race([ping, this.#primary.nextRead]);
    if ((await atMost(limits.openingMs, anyRead)) === undefined) throw storeUnavailable('none');
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #run<T>(body: (call: Call) => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#closed) throw storeUnavailable('none');
    signal?.throwIfAborted();
    const call = new Call(this.#primary, signal);
    const work = call.within(this.#startup.wait().then(() => body(call)));
    this.#inProgress.add(work);
    try {
      return await work;
    } finally {
      this.#inProgress.delete(work);
    }
  }

  async #close(): Promise<void> {
    await atMost(limits.closingMs, Promise.allSettled(this.#inProgress));
    this.#startup.giveUp();
    await atMost(limits.driverCloseMs, this.db.client.close()).catch(() => {});
  }
}

function atMost<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
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
