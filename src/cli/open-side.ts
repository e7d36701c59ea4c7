import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore, parseStoreUrl } from '../adapters/inversify/index.ts';
import type { Logger } from '../ports/logger.ts';
import type { Store } from '../ports/store.ts';
import { storeRefused } from './setting-error.ts';
import { reasonOf } from './store-problems.ts';

/** A store that a command works on, and the setting that names it. */
export interface Side {
  readonly setting: string;
  readonly url: string;
  /** Whether it is only read: then it has to be there. */
  readonly isSource: boolean;
}

/** For how long a store may take to be ready: a new MongoDB database makes its indexes first. */
const readyTries = { count: 5, pauseMs: 500 };

/** What a store would log, the command says itself. */
const silent: Logger = { info() {}, warn() {}, error() {} };

/** @throws SettingError in one sentence about the setting that names the store */
async function openSide({ setting, url, isSource }: Side): Promise<Store> {
  const refusal = (reason: string) => storeRefused(setting, url, reason);
  let store: Store | undefined;
  try {
    const parsed = parseStoreUrl(url);
    if (parsed.kind === 'memory') {
      throw refusal('a memory store begins empty and ends with the command; name another.');
    }
    if (parsed.kind === 'sqlite' && isSource && !existsSync(parsed.path)) {
      throw refusal('there is no such file.');
    }
    store = await openStore(url, silent);
    await whenReady(store);
    return store;
  } catch (error) {
    await store?.close();
    const reason = reasonOf(error);
    throw reason === undefined ? error : refusal(reason);
  }
}

/** Opens a store, works on it, and closes it. */
export async function withStore<T>(side: Side, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openSide(side);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function whenReady(store: Store): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      return await store.ready();
    } catch (error) {
      if (tried === readyTries.count) throw error;
      await sleep(readyTries.pauseMs);
    }
  }
}
