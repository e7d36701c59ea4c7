// Every test, in two runs side by side: the store on MongoDB waits for its server most of the time,
// and the rest does not. With arguments it is mocha with these.
//
//   node scripts/test.ts
//   node scripts/test.ts test/domain/text.test.ts -g email

import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const mocha = join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');
/** What waits: for a server, or for other processes. */
const waiting = /^test\/(?:adapters\/mongodb|cli\/transfer|idempotency|model)\//;

/** Runs mocha; what a silent run says is shown when it is done. @returns its exit code */
function run(args: readonly string[], silent: boolean): Promise<number> {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [mocha, ...args], {
      cwd: root,
      env: { ...process.env, ...(process.stdout.isTTY && { FORCE_COLOR: '1' }) },
      stdio: ['inherit', silent ? 'pipe' : 'inherit', silent ? 'pipe' : 'inherit'],
    });
    const said: Uint8Array[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (bytes: Uint8Array) => said.push(bytes));
    }
    child.on('error', failed);
    child.on('close', (code) => {
      process.stdout.write(Buffer.concat(said));
      done(code ?? 1);
    });
  });
}

const args = process.argv.slice(2);
if (args.length > 0) {
  process.exitCode = await run(args, false);
} else {
  const files = globSync('test/**/*.test.ts', { cwd: root }).map((f) => f.replaceAll('\\', '/'));
  const codes = await Promise.all([
    run(
      files.filter((file) => !waiting.test(file)),
      false,
    ),
    run(
      files.filter((file) => waiting.test(file)),
      true,
    ),
  ]);
  process.exitCode = Math.max(...codes);
}
