// Copies 100,000 records from SQLite to MongoDB and back to SQLite, interrupted on the way by
// SIGINT and kill -9 again and again, and compares the two SQLite stores record for record.
//
//   node test/faults/copy-100k.ts [--records 100000] [--seconds 900]

import { randomInt, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openSqliteStore } from '../../src/adapters/sqlite/index.ts';
import { jsonEqual } from '../../src/domain/json.ts';
import { contentOf, fill, type Records, records } from '../cli/transfer/records.ts';
import { findMongod } from '../support/mongod/binary.ts';
import { startStandalone } from '../support/mongod/servers.ts';
import { type Outcome, outcomeOf } from '../support/process.ts';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { startCommand } from '../support/server.ts';

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '900' },
  },
});

/** The first copies are interrupted, after so many microseconds for each record at most. */
const interruptions: readonly (readonly [NodeJS.Signals, number])[] = [
  ['SIGINT', 10],
  ['SIGKILL', 10],
  ['SIGINT', 15],
  ['SIGKILL', 15],
];

interface Leg {
  readonly interrupted: Record<string, number>;
  /** Of the last run, the one that came to its end. */
  readonly lastSeconds: number;
  readonly seconds: number;
}

/** Copies until a copy comes to its end. */
async function copy(from: string, to: string, signals = interruptions): Promise<Leg> {
  const begun = performance.now();
  const interrupted: Record<string, number> = { SIGINT: 0, SIGKILL: 0 };
  for (let run = 0; ; run++) {
    const last = performance.now();
    const child = startCommand(['copy', '--from', from, '--to', to]);
    const copied = outcomeOf(child);
    const [signal, share] = signals[run] ?? [];
    if (signal !== undefined && share !== undefined) {
      // A process takes half a second to begin.
      const most = Math.ceil(700 + (share * Number(values.records)) / 1000);
      await Promise.race([copied, sleep(randomInt(most / 2, most))]);
      child.kill(signal);
    }
    const ended = await copied;
    if (ended.code === 0) {
      return { interrupted, lastSeconds: secondsSince(last), seconds: secondsSince(begun) };
    }
    checkInterrupted(ended, signal);
    interrupted[signal ?? ''] = (interrupted[signal ?? ''] ?? 0) + 1;
  }
}

function checkInterrupted({ code, stderr }: Outcome, signal: NodeJS.Signals | undefined): void {
  // SIGINT ends a process at once, too, when it comes before the command listens.
  const isExpected = code === null || (signal === 'SIGINT' && stderr.includes('Interrupted: '));
  if (signal === undefined || !isExpected) throw new Error(`a copy failed: ${code} ${stderr}`);
}

function secondsSince(start: number): number {
  return Math.round((performance.now() - start) / 100) / 10;
}

async function held(path: string): Promise<Records> {
  const store = openSqliteStore({ path });
  try {
    return await contentOf(store);
  } finally {
    await store.close();
  }
}

/** How many records differ, or are on one side alone. */
function differences(a: Records, b: Records): number {
  return (['users', 'posts'] as const)
    .flatMap((kind) => {
      const pairs = Math.max(a[kind].length, b[kind].length);
      const differ = (i: number) => {
        const [one, two] = [a[kind][i], b[kind][i]];
        const same = one?.version === two?.version;
        return !same || !jsonEqual(one?.record ?? null, two?.record ?? null);
      };
      return Array.from({ length: pairs }, (_, i) => Number(differ(i)));
    })
    .reduce((sum, one) => sum + one, 0);
}

setTimeout(() => {
  console.error(`not done within ${values.seconds} s`);
  process.exit(1);
}, Number(values.seconds) * 1000).unref();

const binary = await findMongod();
if (binary === undefined) process.exit(1);
await using server = await startStandalone(binary);
await using folder = await temporaryDirectory();
const [first, last] = [join(folder.path, 'first.db'), join(folder.path, 'last.db')];
const mongodb = server.url(`copy-${randomUUID().slice(0, 8)}`);

const store = openSqliteStore({ path: first });
await fill(store, records(Math.round(Number(values.records) / 11)));
await store.close();

const forth = await copy(`sqlite:${first}`, mongodb);
console.log('SQLite → MongoDB', forth);
const back = await copy(mongodb, `sqlite:${last}`);
console.log('MongoDB → SQLite', back);
const again = await copy(`sqlite:${first}`, mongodb, []);
console.log('SQLite → MongoDB, again', again);

const [one, two] = [await held(first), await held(last)];
const ledger = {
  records: one.users.length + one.posts.length,
  differences: differences(one, two),
};
console.log(ledger);
const wereInterrupted = [forth, back].every(({ interrupted }) =>
  Object.values(interrupted).every((count) => count > 0),
);
if (!wereInterrupted) console.error('A copy was too short to be interrupted in every way.');
if (ledger.differences > 0 || !wereInterrupted) process.exitCode = 1;
