import { Worker } from 'node:worker_threads';
import { storeUnavailable } from '../../../domain/errors.ts';
import { type DeclaredFields, fieldsIn } from '../../../domain/fields/declared-fields.ts';
import type { Condition, ListQuery, Page } from '../../../domain/lists/list.ts';
import { type Collection, VersionedRecord } from '../../../domain/records/record.ts';
import { DriverError, fileMoved } from '../connection/errors.ts';
import type { OpenFile } from '../connection/open-file.ts';
import { ListSql } from './list-sql.ts';
import type { WorkerData, WorkerRequest, WorkerResponse } from './list-worker.ts';
import type { PlainQuery } from './ranges.ts';
import { type PlainPage, readPage } from './read-page.ts';

/** How many aborted lists are remembered: more than ever wait for the worker thread. */
const maxAborted = 10_000;

/**
 * The script of the worker, which is beside this file and has the same extension. Undefined in a bundle, where
 * this code is in a file with another name.
 */
const [, folder, extension] = /^(file:.*\/)lists(\.[jt]s)$/.exec(String(import.meta.url)) ?? [];
const script = folder === undefined ? undefined : new URL(`${folder}list-worker${extension}`);

/**
 * Replaces the flags of the process, which may preload code that isn't meant for a worker. Node 22 has already
 * warned of `node:sqlite` in the main thread.
 */
const execArgv = ['--disable-warning=ExperimentalWarning'];

interface PendingList {
  resolve(page: PlainPage | undefined): void;
  reject(error: unknown): void;
  /** Stops listening to the signal. */
  release(): void;
}

/**
 * Reads lists: quick ones on the main connection, the others in a worker thread, which keeps the event loop free.
 * The worker costs 70 µs of processor time for each list, and about 18 MiB.
 */
export class Lists {
  readonly #file: OpenFile;
  readonly #declared: DeclaredFields;
  /** False if no worker can be started. */
  #canUseWorker: boolean;
  #worker: Worker | undefined;
  /** True once a worker has responded. Before that, a worker that exits means that none can run here. */
  #hasResponded = false;
  readonly #pending = new Map<number, PendingList>();
  readonly #aborted = new Int32Array(new SharedArrayBuffer(4 * maxAborted));
  #lastNumber = 0;

  constructor(file: OpenFile, declared: DeclaredFields, canUseWorker: boolean) {
    this.#file = file;
    this.#declared = declared;
    this.#canUseWorker = canUseWorker && script !== undefined;
  }

  /** Reads a page. If the signal is aborted while the worker has the list, throws its reason at once. */
  async read<R>(collection: Collection, { signal, ...query }: ListQuery): Promise<Page<R>> {
    this.#file.checkOpen();
    const { connection } = this.#file;
    // Nothing is awaited before the query is sent, because the caller may reuse it.
    const inWorker = this.#canUseWorker && !this.#isQuick(collection, query);
    const { versions, texts, ...page } =
      (inWorker ? await this.#ask(collection, query, signal) : undefined) ??
      (await this.#file.read(() => readPage(connection, collection, query)));
    const items = texts.map((json, i) => new VersionedRecord<R>(json, versions[i] ?? 0));
    return { ...page, items };
  }

  /** Ends the worker after the lists in progress. */
  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    worker.ref();
    worker.postMessage('close' satisfies WorkerRequest);
    await new Promise((ended) => worker.once('exit', ended));
  }

  /** True if an index serves the whole list, or if a unique value leaves at most one record. */
  #isQuick(collection: Collection, query: PlainQuery): boolean {
    const unique = fieldsIn(this.#declared[collection]).filter(({ isUnique }) => isUnique);
    const isUnique = ({ field, op }: Condition) =>
      op === 'eq' && unique.some(({ name }) => name === field);
    if (query.conditions.some(isUnique)) return true;
    return !query.total && new ListSql(collection, query).isIndexOrderedRead;
  }

  /** Returns undefined when no worker can be started. */
  #ask(
    collection: Collection,
    query: PlainQuery,
    signal: AbortSignal | undefined,
  ): Promise<PlainPage | undefined> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const worker = this.#worker ?? this.#start();
      if (worker === undefined) return resolve(undefined);
      this.#lastNumber = (this.#lastNumber % (2 ** 31 - 1)) + 1;
      const number = this.#lastNumber;
      const abort = () => {
        Atomics.store(this.#aborted, number % maxAborted, number);
        this.#removePending(number)?.reject(signal?.reason);
      };
      signal?.addEventListener('abort', abort);
      const release = () => signal?.removeEventListener('abort', abort);
      this.#pending.set(number, { resolve, reject, release });
      // Keeps the process alive only while a list is in progress.
      worker.ref();
      worker.postMessage([number, collection, query] satisfies WorkerRequest);
    });
  }

  #start(): Worker | undefined {
    if (this.#file.isMoved()) throw storeUnavailable('none', fileMoved(this.#file.path));
    const workerData: WorkerData = { path: this.#file.path, aborted: this.#aborted };
    try {
      this.#worker = new Worker(script ?? '', { workerData, execArgv, env: {} });
    } catch {
      this.#canUseWorker = false; // For example, because of Node's permission model.
      return undefined;
    }
    const worker = this.#worker;
    let cause: unknown;
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('message', ([number, page, error]: WorkerResponse) => {
      this.#hasResponded = true;
      const list = this.#removePending(number);
      if (error === undefined) list?.resolve(page);
      else list?.reject(this.#translate(error));
    });
    worker.on('exit', () => {
      this.#worker = undefined;
      this.#canUseWorker = this.#hasResponded;
      for (const number of this.#pending.keys()) {
        const list = this.#removePending(number);
        if (this.#hasResponded) list?.reject(storeUnavailable('none', cause));
        else list?.resolve(undefined);
      }
    });
    return worker;
  }

  #removePending(number: number): PendingList | undefined {
    const list = this.#pending.get(number);
    list?.release();
    this.#pending.delete(number);
    if (this.#pending.size === 0) this.#worker?.unref();
    return list;
  }

  #translate(error: NonNullable<WorkerResponse[2]>): unknown {
    if (error instanceof Error) return error;
    const cause = Object.assign(new Error(error.message), error);
    return this.#file.translate(new DriverError(cause), 'none');
  }
}
