// Kills servers at random moments while they write to one SQLite file, starts them again, and looks
// whether everything that they acknowledged is there. Each of them is killed so many times.
//
//   node test/faults/kill-sqlite.ts [--servers 1] [--kills 200] [--seconds 900] [--writers 4]

import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { startServer } from '../support/server.ts';
import { isSafe, Load, type Report } from './load.ts';

export interface KillOptions {
  /** The data file, which other servers may have open. */
  readonly file: string;
  readonly kills: number;
  /** No further kill after this time. */
  readonly seconds: number;
  readonly writers: number;
}

export interface KillReport extends Report {
  readonly kills: number;
  /** After how many of the kills `PRAGMA integrity_check` and `foreign_key_check` found no fault. */
  readonly sound: number;
  readonly seconds: number;
}

/** Kills as many servers at a time on a file of their own. @returns a report for each */
export async function killServers(
  servers: number,
  options: Omit<KillOptions, 'file'>,
): Promise<KillReport[]> {
  await using folder = await temporaryDirectory();
  const file = join(folder.path, 'data', 'rostrum.db');
  return await Promise.all(Array.from({ length: servers }, () => killSqlite({ ...options, file })));
}

async function killSqlite(options: KillOptions): Promise<KillReport> {
  const { file, kills, seconds, writers } = options;
  const load = new Load();
  const start = performance.now();
  const elapsed = () => (performance.now() - start) / 1000;
  let [killed, sound] = [0, 0];
  load.start(writers);
  for (;;) {
    // Every other time the file is looked at first, so that a reader is the one to recover it.
    const readFirst = killed % 2 === 1;
    if (readFirst && isSound(file)) sound += 1;
    await using server = await startServer('--store', `sqlite:${file}`);
    if (!readFirst && killed > 0 && isSound(file)) sound += 1;
    load.address = server.address;
    const isLast = killed === kills || elapsed() > seconds;
    if (isLast) await load.stop();
    // Looking for everything takes longer each time.
    const report = isLast || killed % 10 === 9 ? await load.report() : undefined;
    if (report && (isLast || !isSafe(report))) {
      await load.stop();
      return { kills: killed, sound, ...report, seconds: Math.round(elapsed()) };
    }
    await sleep(randomInt(20, 1000));
    await server.stop('SIGKILL');
    killed += 1;
  }
}

/** What has to hold of a report, whatever its counts. */
export function isGood(report: KillReport): boolean {
  return report.sound === report.kills && isSafe(report);
}

function isSound(file: string): boolean {
  const database = new DatabaseSync(file, { timeout: 10_000 });
  try {
    const integrity = database.prepare('PRAGMA integrity_check').all();
    const orphans = database.prepare('PRAGMA foreign_key_check').all();
    return integrity[0]?.integrity_check === 'ok' && orphans.length === 0;
  } finally {
    database.close();
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      servers: { type: 'string', default: '1' },
      kills: { type: 'string', default: '200' },
      seconds: { type: 'string', default: '900' },
      writers: { type: 'string', default: '4' },
    },
  });
  const reports = await killServers(Number(values.servers), {
    kills: Number(values.kills),
    seconds: Number(values.seconds),
    writers: Number(values.writers),
  });
  for (const report of reports) {
    for (const [what, count] of Object.entries(report)) console.log(`${what.padEnd(12)} ${count}`);
    if (!isGood(report) || report.kills < Number(values.kills)) process.exitCode = 1;
  }
}
