import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MongoMemoryReplSet } from 'mongodb-memory-server-core';
import { findMongod } from '../test/support/mongod/binary.ts';

export const storeKinds = ['memory', 'SQLite', 'MongoDB'] as const;
export type StoreKind = (typeof storeKinds)[number];

export const root = resolve(import.meta.dirname, '..');

/** On the disk of the checkout, because the system's temporary folder may be in memory. */
export const cache = join(root, '.cache', 'bench');

/** A folder and a MongoDB server for a run, and the URLs of stores on them. */
export class Workspace implements AsyncDisposable {
  readonly folder: string;
  #mongodb: MongoMemoryReplSet | undefined;
  #stores = 0;

  constructor() {
    mkdirSync(cache, { recursive: true });
    this.folder = mkdtempSync(join(cache, 'run-'));
    process.on('exit', () => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** Returns true if stores of this kind can be opened. */
  async has(kind: StoreKind): Promise<boolean> {
    if (kind !== 'MongoDB') return true;
    this.#mongodb ??= await startMongod();
    return this.#mongodb !== undefined;
  }

  /** Returns the URL of a new, empty store. */
  async newStore(kind: StoreKind): Promise<string | undefined> {
    const name = `bench-${++this.#stores}`;
    if (kind === 'memory') return 'memory:';
    if (kind === 'SQLite') return `sqlite:${join(this.folder, `${name}.db`)}`;
    return (await this.has(kind)) ? this.#mongodb?.getUri(name) : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mongodb?.stop({ doCleanup: true, force: true });
  }
}

/** Starts a replica set of one node, with enough memory for a million posts. */
async function startMongod(): Promise<MongoMemoryReplSet | undefined> {
  const systemBinary = await findMongod();
  if (systemBinary === undefined) return undefined;
  process.env.MONGOMS_SYSTEM_BINARY_VERSION_CHECK = 'false';
  const args = ['--wiredTigerCacheSizeGB', '2'];
  return await MongoMemoryReplSet.create({
    binary: { systemBinary },
    replSet: { ip: '127.0.0.1', storageEngine: 'wiredTiger', name: 'bench', count: 1, args },
  });
}
