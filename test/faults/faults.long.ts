import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { findMongod } from '../support/mongod/binary.ts';

/** Each says what it saw, and fails where a bound does not hold. */
const scripts: Record<string, readonly string[]> = {
  'serves others while it is pressed, on memory': ['http-pressure.ts'],
  'serves others while it is pressed, on SQLite': ['http-pressure.ts', '--store', 'sqlite'],
  'serves others while it is pressed, on MongoDB': ['http-pressure.ts', '--store', 'mongodb'],
  'serves as much as it can where far more is asked': ['overload.ts'],
  'finds no 5xx in random requests': ['fuzz-http.ts', '--requests', '20000'],
  'loses nothing on SQLite when it is killed, beside another on the same file and an import': [
    ...['kill-sqlite.ts', '--servers', '2', '--kills', '50', '--seconds', '300'],
  ],
  'syncs at least once for every commit that it acknowledges': ['count-fdatasync.ts'],
  'leaves no post without its author on MongoDB': ['mongodb-orphans.ts'],
  'loses nothing on MongoDB when primaries are killed and step down': [
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
