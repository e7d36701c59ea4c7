import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { findMongod } from '../support/mongod/binary.ts';

/** Each script prints its results, and fails if a limit is exceeded. */
const scripts: Record<string, readonly string[]> = {
  'serves other clients under extreme load on memory': ['http-pressure.ts'],
  'serves other clients under extreme load on SQLite': ['http-pressure.ts', '--store', 'sqlite'],
  'serves other clients under extreme load on MongoDB': ['http-pressure.ts', '--store', 'mongodb'],
  'keeps half of its throughput when overloaded': ['overload.ts'],
  'returns no 5xx to random requests': ['fuzz-http.ts', '--requests', '20000'],
  'loses no data on SQLite when killed, with another server and an import on the same file': [
    ...['kill-sqlite.ts', '--servers', '2', '--kills', '50', '--seconds', '300'],
  ],
  'syncs the SQLite file at least once per commit': ['count-fdatasync.ts'],
  'leaves no posts with a missing author on MongoDB': ['mongodb-orphans.ts'],
  'loses no data on MongoDB when primaries are killed or step down': [
    ...['mongodb-failover.ts', '--kills', '20', '--step-downs', '20'],
  ],
};

describe('the server', () => {
  for (const [name, [script = '', ...args]] of Object.entries(scripts)) {
    it(name, async function run() {
      if (name.includes('MongoDB') && (await findMongod()) === undefined) this.skip();
      const path = join(import.meta.dirname, script);
      const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 2, 2] });
      const [code] = await once(child, 'exit');
      expect(code).to.equal(0);
    });
  }
});
