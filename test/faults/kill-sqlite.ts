// Kills servers at random moments while they write to one SQLite file, restarts them, and checks that every
// acknowledged write is there. Meanwhile, `rostrum import` adds posts to the same file. Two followers of each
// server keep their position in the event log: they must receive every change that was acknowledged or may have
// been made, once and in the same order.
//
//   node test/faults/kill-sqlite.ts [--servers 1] [--kills 200] [--seconds 900] [--writers 4]

import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { rostrum, startServer } from '../support/server.ts';
import {
  EventFollower,
  EventLoad,
  endOfEvents,
  isFollowed,
  judge,
  lastEvent,
} from './event-load.ts';
import { isSafe, Load, type Report } from './load.ts';

const { values } = parseArgs({
  options: {
    servers: { type: 'string', default: '1' },
    kills: { type: 'string', default: '200' },
    /** No more kills after this time. */
    seconds: { type: 'string', default: '900' },
    writers: { type: 'string', default: '4' },
  },
});
const kills = Number(values.kills);
/** The number of posts per import. */
const imported = 2000;

await using folder = await temporaryDirectory();
const file = join(folder.path, 'data', 'rostrum.db');
const store = ['--store', `sqlite:${file}`];
const start = performance.now();
const elapsed = () => Math.round((performance.now() - start) / 1000);

interface KillReport extends Report {
  readonly kills: number;
  /** The number of kills after which `PRAGMA integrity_check` and `foreign_key_check` found no fault. */
  readonly sound: number;
}

const loads: Load[] = [];
const changers: EventLoad[] = [];
const followers: EventFollower[] = [];

/** Kills a server repeatedly. */
async function killServer(): Promise<KillReport> {
  const [load, changer] = [new Load(), new EventLoad()];
  const own: EventFollower[] = [1, 2].map(() => new EventFollower('', begin));
  loads.push(load);
  changers.push(changer);
  followers.push(...own);
  let [killed, sound] = [0, 0];
  load.start(Number(values.writers));
  changer.start(Number(values.writers));
  for (;;) {
    // Every second time, check the file before restarting, so that a reader has to recover it.
    const readFirst = killed % 2 === 1;
    if (readFirst && isSound()) sound += 1;
    await using server = await startServer(...store);
    if (!readFirst && killed > 0 && isSound()) sound += 1;
    for (const client of [load, changer, ...own]) client.address = server.address;
    const isLast = killed === kills || elapsed() > Number(values.seconds);
    if (isLast) await Promise.all([load.stop(), changer.stop()]);
    // Checking all records takes longer each time.
    const report = isLast || killed % 10 === 9 ? await load.report() : undefined;
    if (report && (isLast || !isSafe(report))) {
      await Promise.all([load.stop(), changer.stop()]);
      return { kills: killed, sound, ...report };
    }
    await sleep(randomInt(20, 1000));
    await server.stop('SIGKILL');
    killed += 1;
  }
}

function isSound(): boolean {
  const database = new DatabaseSync(file, { timeout: 10_000 });
  try {
    const integrity = database.prepare('PRAGMA integrity_check').all();
    const orphans = database.prepare('PRAGMA foreign_key_check').all();
    return integrity[0]?.integrity_check === 'ok' && orphans.length === 0;
  } finally {
    database.close();
  }
}

/** Imports posts repeatedly. Returns how many there are and how many there should be. */
async function keepImporting(isOver: () => boolean) {
  const posts = Array.from({ length: imported }, (_, n) => ({ title: 'imported', n }));
  const path = join(folder.path, 'posts.json');
  await writeFile(path, JSON.stringify({ posts }));
  let imports = 0;
  for (; !isOver(); imports++) {
    const { code, output } = await rostrum('import', path, ...store);
    if (code !== 0) throw new Error(`An import failed: ${output}`);
    await sleep(1000);
  }
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare(`SELECT id FROM posts WHERE title = 'imported'`).all();
  database.close();
  return { imports, found: rows.map(({ id }) => id), added: imports * imported };
}

/** The position at which all followers begin. */
const begin = await (async () => {
  await using server = await startServer(...store);
  return await endOfEvents(server.address);
})();
let isOver = false;
const importing = keepImporting(() => isOver);
importing.catch(() => {}); // It also fails if the folder is removed, after an error of a server that counts more.
const reports = await Promise.all(Array.from({ length: Number(values.servers) }, killServer));
isOver = true;
const { imports, found, added } = await importing;
for (const report of reports) {
  console.log({ ...report, seconds: elapsed() });
  if (report.kills < kills || report.sound < report.kills || !isSafe(report)) process.exitCode = 1;
}
console.log(`${imports} imports added ${added} posts, and ${found.length} are there`);
if (found.length !== added || imports === 0) process.exitCode = 1;

await using server = await startServer(...store);
const last = await lastEvent(server.address);
for (const follower of followers) follower.address = server.address;
await Promise.all(followers.map((follower) => follower.stopBehind(last)));
const created = loads.flatMap((load) => [...load.ids()]);
const others = [
  ...created.map(([resource, id]) => `created ${resource.slice(0, -1)} ${id} 1`),
  ...found.map((id) => `created post ${id} 1`),
  last,
];
const followed = judge(changers, followers, others);
console.log({ followers: followers.length, ...followed });
if (!isFollowed(followed)) process.exitCode = 1;
