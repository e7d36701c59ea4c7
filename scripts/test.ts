// Runs every test, in a few processes side by side: most tests that wait share one process, which
// leaves its processor to the others. With arguments it is mocha with these. A run that hangs is
// ended, and the test that hangs is named.
//
//   node scripts/test.ts
//   node scripts/test.ts test/domain/text.test.ts -g email

import { type ChildProcess, spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const root = resolve(import.meta.dirname, '..');
const mocha = join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');
/** How long a run may stay in one test, and at its end, in milliseconds. */
const limits = { test: 300_000, end: 15_000 };

/** The files of each run, by the first pattern that fits; the rest are one more run. */
const runs = [
  // They wait: for time-outs, leases, a server that is away, connections that are cut.
  /^test\/(?:waiting\.|hanging\.|idempotency\/|adapters\/mongodb\/(?:outage|silence|remains|schema)\.)/,
  // They keep a database server busy.
  /^test\/(?:adapters\/mongodb|model|examples)\//,
  // They keep compilers busy.
  /^test\/(?:walls\.|package\.|docs\/)/,
];

/** What came of a run of mocha: its exit code, and what it wrote behind its count of failures. */
interface Outcome {
  readonly code: number;
  readonly failures: string;
}

/** Runs mocha; the output of a silent run is shown when it is done. */
function run(args: readonly string[], silent: boolean): Promise<Outcome> {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [mocha, ...args], {
      cwd: root,
      env: { ...process.env, ...(process.stdout.isTTY && { FORCE_COLOR: '1' }) },
      stdio: ['inherit', 'pipe', 'pipe', 'ipc'],
    });
    const written: Uint8Array[] = [];
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream]?.on('data', (bytes: Uint8Array) => {
        written.push(bytes);
        if (!silent) process[stream].write(bytes);
      });
    }
    const watchdog = watch(child);
    child.on('error', failed);
    child.on('close', (exitCode) => {
      clearTimeout(watchdog.timer);
      const output = Buffer.concat(written).toString();
      if (silent) process.stdout.write(output);
      const code = watchdog.fired === undefined ? (exitCode ?? 1) : 1;
      const failing = /^ +\d+ failing$([\s\S]*)/m.exec(stripVTControlCharacters(output))?.[1] ?? '';
      const reason = watchdog.fired ?? (failing === '' ? `The run ended with ${code}.` : '');
      done({ code, failures: code === 0 ? '' : `${failing}\n${reason}\n` });
    });
  });
}

/** Ends a run that hangs. test/support/hooks.ts says which test runs, and when all are done. */
function watch(child: ChildProcess): { timer?: NodeJS.Timeout; fired?: string } {
  const watchdog: ReturnType<typeof watch> = {};
  const wait = (what: string, ms: number): void => {
    clearTimeout(watchdog.timer);
    watchdog.timer = setTimeout(() => {
      watchdog.fired = `The run is ended: ${what} for more than ${ms / 1000} s.`;
      console.error(watchdog.fired);
      child.kill('SIGTERM');
      // A test that never yields does not see the first signal.
      watchdog.timer = setTimeout(() => child.kill('SIGKILL'), 5000);
    }, ms);
  };
  wait('it has not begun', limits.test);
  child.on('message', ({ running }: { readonly running?: string }) => {
    if (running !== undefined) wait(`"${running}" hangs`, limits.test);
    else wait('all tests are done, and what they started keeps it from its end', limits.end);
  });
  return watchdog;
}

const args = process.argv.slice(2);
if (args.length > 0) {
  process.exitCode = (await run(args, false)).code;
} else {
  const files = globSync('{test,packages/*/test}/**/*.test.ts', { cwd: root }).map((f) =>
    f.replaceAll('\\', '/'),
  );
  const groups = Object.values(
    Object.groupBy(files, (file) => runs.findIndex((pattern) => pattern.test(file))),
  );
  // The output of the first is seen as it comes; the others show theirs when they are done.
  const outcomes = await Promise.all(groups.map((group = [], index) => run(group, index > 0)));
  // What failed is said once more at the end: it is far above, where another run was done later.
  for (const { failures } of outcomes) process.stdout.write(failures);
  process.exitCode = Math.max(...outcomes.map(({ code }) => code));
}
