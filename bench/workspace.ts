import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findMongod } from '../test/support/mongod/binary.ts';
import { startReplicaSet, type TestServer } from '../test/support/mongod/servers.ts';

export const storeKinds = ['memory', 'SQLite', 'MongoDB'] as const;
export type StoreKind = (typeof storeKinds)[number];

export const root = resolve(import.meta.dirname, '..');

/** On the disk of the checkout, because the system's temporary folder may be in memory. */
export const cache = join(root, '.cache', 'bench');

/** A folder and a MongoDB server for a run, and the URLs of stores on them. */
export class Workspace implements AsyncDisposable {
  readonly folder: string;
  #mongodb: TestServer | undefined;
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
    return (await this.has(kind)) ? this.#mongodb?.url(name) : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mongodb?.[Symbol.asyncDispose]();
  }
}

/** Starts a replica set of one node, with enough memory for a million posts. */
async function startMongod(): Promise<TestServer | undefined> {
  const binary = await findMongod();
  if (binary === undefined) return undefined;
  return startReplicaSet(binary, 1, false, [], ['--wiredTigerCacheSizeGB', '2']);
}
