import { existsSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { storeUnavailable } from '../../../domain/errors.ts';
import type { Condition, ListQuery, Page, QueryField } from '../../../domain/lists/list.ts';
import { copyJson } from '../../../domain/records/json.ts';
import { type Collection, VersionedRecord } from '../../../domain/records/record.ts';
import type { DataFile } from '../connection/data-file.ts';
import { DriverError, damaged, fileMoved } from '../connection/errors.ts';
import { type StoredField, storedFields } from '../declared-fields.ts';
import { ListStatements, type PlainQuery } from './list-statements.ts';
import type { WorkerRequest, WorkerResponse } from './list-worker.ts';
import { type PlainPage, readPage } from './read-page.ts';

/** The script of the worker, beside this file. A bundle of the library doesn't have it, and can lack a URL of its own. */
const here = String(import.meta.url);
const script = URL.parse(`list-worker${extname(here)}`, here) ?? '';

/**
 * Replaces the flags of the process, which may preload code that isn't meant for a worker. Node 22 has already
 * warned of `node:sqlite` in the main thread.
 */
const execArgv = ['--disable-warning=ExperimentalWarning'];

/**
 * Reads lists: quick ones on the main connection, the others in a worker thread, which keeps the event loop free.
 * The worker costs 90 µs of processor time for each list, and about 18 MiB.
 */
export class ListReader {
  readonly #file: DataFile;
  readonly #hasWorker: boolean;
  #worker: Worker | undefined;
  /** The list that the worker reads. */
  #current = Promise.withResolvers<WorkerResponse>();
  /** Settled once the worker has read all lists. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: DataFile, canUseWorker: boolean) {
    this.#file = file;
    this.#hasWorker = canUseWorker && existsSync(script);
  }

  /** Reads a page. If the signal is aborted while the worker has the list, throws its reason at once. */
  async read<R>(collection: Collection, { signal, ...given }: ListQuery): Promise<Page<R>> {
    this.#file.checkOpen();
    const query = copyJson(given); // The caller may reuse its arguments.
    const { connection } = this.#file;
    const inWorker = this.#hasWorker && !this.#staysOnMainThread(collection, query);
    const page = await (inWorker
      ? this.#ask(collection, query, signal)
      : this.#file.read(() => readPage(connection, collection, query)));
    const items = page.items.map(({ json, version }) => new VersionedRecord<R>(json, version));
    return { ...page, items };
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#worker?.terminate(); // Closes its connection, too.
  }

  /** True if an index serves the whole list, or if a unique value or ids leave few records. */
  #staysOnMainThread(collection: Collection, query: PlainQuery): boolean {
    const { conditions, order, fields, total } = query;
    // Cutting fields out of a large record takes milliseconds.
    if (fields !== undefined) return false;
    const declared = ({ field, declaredType }: QueryField) =>
      this.#completeFields().find(
        (one) => one.collection === collection && one.name === field && one.type === declaredType,
      );
    const isUnique = (one: Condition) =>
      one.op === 'eq' && (one.declaredType ? declared(one)?.isUnique : one.field === 'emailKey');
    const isDeclaredOrder = order.declaredType !== undefined;
    if (conditions.some(isUnique)) return true;
    // A declared order, or another condition, can be read from the JSON of each record.
    if (conditions.length === 1 && conditions[0]?.op === 'in') return !isDeclaredOrder;
    if (total || (isDeclaredOrder && !declared(order))) return false;
    return new ListStatements(collection, query).isIndexOrderedRead();
  }

  /** Returns the complete declared fields, or none if the file is locked: then the worker, which waits longer, has the list. */
  #completeFields(): readonly StoredField[] {
    try {
      return storedFields(this.#file.connection).filter(({ pending }) => pending === 0);
    } catch {
      return [];
    }
  }

  /** Sends the worker one list at a time, so that an aborted list that waits costs nothing. */
  #ask(collection: Collection, query: PlainQuery, signal?: AbortSignal): Promise<PlainPage> {
    const page = this.#last.then(() => {
      signal?.throwIfAborted();
      return this.#readInWorker([collection, query]);
    });
    this.#last = page.catch(() => {});
    return orAborted(page, signal);
  }

  async #readInWorker(request: WorkerRequest): Promise<PlainPage> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    this.#current = Promise.withResolvers();
    // Keeps the process alive only while a list is in progress.
    worker.ref();
    worker.postMessage(request);
    const response = await this.#current.promise.finally(() => worker.unref());
    if ('items' in response) return response;
    if (response instanceof Error) throw response;
    const cause = Object.assign(new Error(response.message), response);
    throw this.#file.translate(new DriverError(cause), 'none');
  }

  #start(): Worker {
    const { path } = this.#file;
    if (this.#file.isMoved()) throw storeUnavailable('none', fileMoved(path));
    // SQLite would remove the WAL of an empty file.
    if (statSync(path).size === 0) throw storeUnavailable('none', this.#file.log(damaged(path)));
    const worker = new Worker(script, { workerData: path, execArgv, env: {} });
    let cause: unknown;
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('message', (response: WorkerResponse) => this.#current.resolve(response));
    worker.on('exit', () => {
      this.#worker = undefined;
      this.#current.reject(storeUnavailable('none', cause));
    });
    return worker;
  }
}

function orAborted<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return result;
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  const first = Promise.race([result, aborted.promise]);
  return first.finally(() => signal.removeEventListener('abort', abort));
}
