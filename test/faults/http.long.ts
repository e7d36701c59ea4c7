import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { temporaryDirectory } from '../support/repository-copy.ts';

/** Each says what it saw, and fails where a bound does not hold. */
const scripts: Record<string, (folder: string) => readonly string[]> = {
  'serves others while it is pressed, on memory': () => ['http-pressure.ts', '--seconds', '5'],
  'serves others while it is pressed, on SQLite': (folder) => [
    ...['http-pressure.ts', '--seconds', '5', '--store', `sqlite:${join(folder, 'pressed.db')}`],
  ],
  'serves others beside the longest statements of SQLite': () => ['long-statements.ts'],
  'holds many connections that do nothing': () => ['idle-connections.ts'],
  'serves as much as it can where far more is asked': () => ['overload.ts', '--rounds', '3'],
  'finds no 5xx in random requests': () => ['fuzz-http.ts', '--requests', '20000'],
};

describe('the server', () => {
  for (const [name, argsIn] of Object.entries(scripts)) {
    it(name, async () => {
      await using folder = await temporaryDirectory();
      const [script = '', ...args] = argsIn(folder.path);
      const path = join(import.meta.dirname, script);
      const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 2, 2] });
      const [code] = await once(child, 'exit');
      expect(code).to.equal(0);
    });
  }
});
