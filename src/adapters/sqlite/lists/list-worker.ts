// Runs in a worker thread: reads lists on a read-only connection of its own.

import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { Collection } from '../../../domain/records/record.ts';
import { Connection, cacheSize } from '../connection/connection.ts';
import { recoveryMs } from '../connection/data-file.ts';
import { DriverError } from '../connection/errors.ts';
import type { PlainQuery } from './list-statements.ts';
import { type PlainPage, readPage } from './read-page.ts';

export type WorkerRequest = readonly [collection: Collection, query: PlainQuery];

/** An error sent to another thread loses members such as `errcode`, so a driver error is sent as data. */
export type WorkerResponse =
  | PlainPage
  | Error
  | { readonly message: string; readonly errcode: unknown };

let connection: Connection | undefined;

function open(): Connection {
  const options = { readOnly: true, timeout: recoveryMs };
  const opened = new Connection(() => new DatabaseSync(workerData as string, options));
  opened.exec(`PRAGMA cache_size = ${cacheSize}`);
  return opened;
}

function read(collection: Collection, query: PlainQuery): WorkerResponse {
  try {
    connection ??= open();
    return readPage(connection, collection, query);
  } catch (error) {
    if (!(error instanceof DriverError)) return error as Error;
    const { message, errcode } = error.cause as Error & { errcode?: unknown };
    return { message, errcode };
  }
}

parentPort?.on('message', (request: WorkerRequest) => parentPort?.postMessage(read(...request)));
