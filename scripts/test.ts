// Every test, in some runs side by side: most of what waits is in one of them and leaves its
// processor to the others. With arguments it is mocha with these.
//
//   node scripts/test.ts
//   node scripts/test.ts test/domain/text.test.ts -g email

import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const mocha = join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');
/** Which files make a run of their own, by the first that fits; those that are left are one more. */
const runs = [
  // They wait: for time-outs, leases, a server that is away, connections that are cut.
  /^test\/(?:waiting\.|idempotency\/|adapters\/mongodb\/(?:outage|silence|remains|schema)\.)/,
  // They keep MongoDB busy.
  /^test\/(?:adapters\/mongodb|model)\//,
  // They keep compilers busy.
  /^test\/(?:walls\.|package\.|docs\/)/,
];

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
  const groups = Object.values(
    Object.groupBy(files, (file) => runs.findIndex((pattern) => pattern.test(file))),
  );
  // One is seen as it goes; the others show what they said when they are done.
  const codes = groups.map((group = [], index) => run(group, index > 0));
  process.exitCode = Math.max(...(await Promise.all(codes)));
}
