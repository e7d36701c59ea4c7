import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../adapters/inversify/open-store.ts';
import type { Logger } from '../ports/logger.ts';
import type { Store, StoreOptions } from '../ports/store.ts';
import { explainOpening, type StoreSetting, storeFailure, storeUrlOf } from './failure.ts';

/** A new MongoDB database creates its indexes before it is ready. */
const readyTries = { count: 5, pauseMs: 500 };

/** The command prints what a store would log. */
const silent: Logger = { info() {}, warn() {}, error() {} };

type Role = 'source' | 'target' | 'copy-target' | 'rehearsal';

/**
 * Opens a store, does some work, and closes the store.
 *
 * @param role `source`: the store has to exist. `target`: it is created if it doesn't. `copy-target`: a target
 * that can be left over from an interrupted copy. `rehearsal`: nothing is written, not even the indexes of
 * declared fields, and a missing file counts as an empty store.
 * @throws Failure with one sentence that names the setting
 */
export async function withStore<T>(
  named: StoreSetting,
  role: Role,
  work: (store: Store) => Promise<T>,
  options: StoreOptions = {},
): Promise<T> {
  const store = await open(named, role, options);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function open(named: StoreSetting, role: Role, options: StoreOptions): Promise<Store> {
  let store: Store | undefined;
  try {
    const parsed = storeUrlOf(named);
    if (parsed.kind === 'memory') {
      throw storeFailure(named, 'a memory store is lost when the command ends.');
    }
    const isMissing = parsed.kind === 'sqlite' && !existsSync(parsed.path);
    if (isMissing && role === 'source') throw storeFailure(named, 'there is no such file.');
    const url = isMissing && role === 'rehearsal' ? 'memory:' : named.url;
    store = await openStore(url, silent, role === 'rehearsal' ? {} : options);
    await whenReady(store);
    if (role !== 'copy-target') await rejectUnfinishedCopy(store, named);
    return store;
  } catch (error) {
    await store?.close();
    throw explainOpening(error, named);
  }
}

/** @throws Failure if the store is the target of an interrupted copy */
export async function rejectUnfinishedCopy(store: Store, named: StoreSetting): Promise<void> {
  if (!(await store.transfer?.isFilling())) return;
  throw storeFailure(
    named,
    'This store is the target of an unfinished copy. Run the same copy again to finish it.',
  );
}

async function whenReady(store: Store): Promise<void> {
  for (let failed = 0; ; ) {
    try {
      return await store.ready();
    } catch (error) {
      // Without a cause, the store is still declaring fields.
      if (Object(error).cause !== undefined) failed += 1;
      if (failed === readyTries.count) throw error;
      await sleep(readyTries.pauseMs);
    }
  }
}
