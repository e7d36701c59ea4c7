import { Worker } from 'node:worker_threads';
import { RostrumError, storeUnavailable } from '../../../domain/errors.ts';
import type { ListQuery, Page } from '../../../domain/list.ts';
import { type Collection, VersionedRecord } from '../../../domain/record.ts';
import { DriverError } from '../connection/errors.ts';
import type { OpenFile } from '../connection/open-file.ts';
import type { WorkerData, WorkerRequest, WorkerResponse } from './list-worker.ts';
import { type PlainPage, type PlainQuery, readPage } from './read-page.ts';

/** How many worker threads read lists. Each takes about 18 MiB. */
const maxWorkers = 2;

/** How many lists may wait for a worker thread, or be read by it. */
const maxPending = 5000;

/**
 * The file of the worker beside this one, with the same extension. Undefined in a bundle, which has no
 * file for the worker: this code then runs from a file of another name.
 */
const script = /^file:.*\/list-readers\.[jt]s$/.test(import.meta.url ?? '')
  ? import.meta.url.replace(/list-readers(?=\.[jt]s$)/, 'list-worker')
  : undefined;

/** Reads lists in worker threads, so that a slow one does not block the event loop. */
export class ListReaders {
  readonly #file: OpenFile;
  readonly #workers: (ListWorker | undefined)[] = [];
  /** False when no worker can be started here: then lists are read on the main connection. */
  #hasWorkers: boolean;

  constructor(file: OpenFile, hasWorkers: boolean) {
    this.#file = file;
    this.#hasWorkers = hasWorkers && script !== undefined;
  }

  /** @throws the reason of the signal, at once when it is aborted */
  async read<R>(collection: Collection, { signal, ...query }: ListQuery): Promise<Page<R>> {
    this.#file.checkOpen();
    signal?.throwIfAborted();
    const worker = this.#hasWorkers ? this.#idlest() : undefined;
    const page =
      (await worker?.read(collection, query, signal)) ??
      (await this.#file.read(() => readPage(this.#file.connection, collection, query)));
    const { versions, texts, ...rest } = page;
    const items = texts.map((json, i) => new VersionedRecord<R>(json, versions[i] ?? 0));
    return { ...rest, items };
  }

  /** Waits for the lists under way. */
  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker?.close()));
  }

  /** Returns the worker with the fewest lists. Starts another one when all have some. */
  #idlest(): ListWorker | undefined {
    let best: ListWorker | undefined;
    for (let i = 0; i < maxWorkers && best?.pending !== 0; i++) {
      this.#workers[i] ??= this.#start(i);
      const worker = this.#workers[i];
      if (worker === undefined) break;
      if (best === undefined || worker.pending < best.pending) best = worker;
    }
    if (best !== undefined && best.pending >= maxPending) throw new RostrumError('overloaded', {});
    return best;
  }

  #start(i: number): ListWorker | undefined {
    try {
      return new ListWorker(String(script), this.#file, (hasWorked) => {
        this.#workers[i] = undefined;
        if (!hasWorked) this.#hasWorkers = false;
      });
    } catch {
      this.#hasWorkers = false;
      return undefined;
    }
  }
}

interface PendingList {
  resolve(page: PlainPage | undefined): void;
  reject(error: unknown): void;
  end(): void;
}

class ListWorker {
  readonly #file: OpenFile;
  readonly #worker: Worker;
  readonly #pending = new Map<number, PendingList>();
  readonly #aborted = new Int32Array(new SharedArrayBuffer(4 * maxPending));
  #last = 0;
  #hasWorked = false;

  /** @param ended called when the thread has ended, with false when it has never sent a response */
  constructor(script: string, file: OpenFile, ended: (hasWorked: boolean) => void) {
    this.#file = file;
    const { path, identity } = file;
    const workerData: WorkerData = { path, identity, aborted: this.#aborted };
    // Without the flags and variables of the process: what they preload is not meant for this thread.
    this.#worker = new Worker(new URL(script), { workerData, execArgv: [], env: {} });
    this.#worker.unref();
    let cause: unknown;
    this.#worker.on('error', (error) => {
      cause = error;
    });
    this.#worker.on('message', (response: WorkerResponse) => this.#settle(response));
    this.#worker.on('exit', () => {
      ended(this.#hasWorked);
      for (const { resolve, reject } of this.#pending.values()) {
        if (this.#hasWorked) reject(storeUnavailable('none', cause));
        else resolve(undefined);
      }
    });
  }

  get pending(): number {
    return this.#pending.size;
  }

  /** Returns undefined when the worker could not start. */
  read(
    collection: Collection,
    query: PlainQuery,
    signal: AbortSignal | undefined,
  ): Promise<PlainPage | undefined> {
    this.#last = (this.#last % (2 ** 31 - 1)) + 1;
    const number = this.#last;
    return new Promise((resolve, reject) => {
      const abort = () => {
        Atomics.store(this.#aborted, number % maxPending, number);
        this.#take(number)?.reject(signal?.reason);
      };
      signal?.addEventListener('abort', abort);
      const end = () => signal?.removeEventListener('abort', abort);
      // The process stays while a list is under way, and no longer.
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(number, { resolve, reject, end });
      const request: WorkerRequest = [number, collection, query];
      this.#worker.postMessage(request);
    });
  }

  #take(number: number): PendingList | undefined {
    const pending = this.#pending.get(number);
    pending?.end();
    this.#pending.delete(number);
    if (this.#pending.size === 0) this.#worker.unref();
    return pending;
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#worker.once('exit', resolve));
    this.#worker.postMessage(undefined satisfies WorkerRequest);
    this.#worker.ref();
    await ended;
  }

  #settle([number, page, error]: WorkerResponse): void {
    this.#hasWorked = true;
    const pending = this.#take(number);
    if (error === undefined) pending?.resolve(page);
    else if (error instanceof Error) pending?.reject(error);
    else pending?.reject(this.#translated(Object.assign(new Error(error.message), error)));
  }

  #translated(error: unknown): unknown {
    try {
      this.#file.check(); // The worker opens the file by its path, where it may not be any more.
      return this.#file.translated(new DriverError(error), 'none');
    } catch (reason) {
      return this.#file.translated(reason, 'none');
    }
  }
}
