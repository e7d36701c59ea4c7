// Runs in a worker thread: reads lists on a read-only connection of its own, one after another.

import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { Collection } from '../../../domain/records/record.ts';
import { Connection, cacheSize } from '../connection/connection.ts';
import { DriverError } from '../connection/errors.ts';
import { recoveryMs } from '../connection/open-file.ts';
import type { PlainQuery } from './ranges.ts';
import { type PlainPage, readPage } from './read-page.ts';

/** The data that a worker is started with. */
export interface WorkerData {
  readonly path: string;
  /** The numbers of aborted requests, each at the index `number % aborted.length`. */
  readonly aborted: Int32Array;
}

export type WorkerRequest = ListRequest | 'close';

type ListRequest = readonly [number: number, collection: Collection, query: PlainQuery];

/** An error sent to another thread loses members such as `errcode`, so a driver error is sent as data. */
export type WorkerResponse = readonly [
  number: number,
  page: PlainPage | undefined,
  error?: Error | { readonly message: string; readonly errcode: unknown },
];

const { path, aborted } = workerData as WorkerData;
let connection: Connection | undefined;

function open(): Connection {
  const options = { readOnly: true, timeout: recoveryMs };
  const opened = new Connection(() => new DatabaseSync(path, options));
  opened.exec(`PRAGMA cache_size = ${cacheSize}`);
  return opened;
}

function responseTo([number, collection, query]: ListRequest): WorkerResponse {
  if (aborted[number % aborted.length] === number) return [number, undefined];
  try {
    connection ??= open();
    return [number, readPage(connection, collection, query)];
  } catch (error) {
    if (!(error instanceof DriverError)) return [number, undefined, error as Error];
    const { message, errcode } = error.cause as Error & { errcode?: unknown };
    return [number, undefined, { message, errcode }];
  }
}

parentPort?.on('message', (request: WorkerRequest) => {
  if (request !== 'close') parentPort?.postMessage(responseTo(request));
  else {
    connection?.close();
    process.exit(); // Ends only this thread.
  }
});
