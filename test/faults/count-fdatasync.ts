// Counts how often the server syncs its file while it acknowledges writes to SQLite: at least once
// for every commit. A kill -9 cannot tell, as the operating system keeps what was not synced.
//
//   node test/faults/count-fdatasync.ts [--writes 200]

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { startServer } from '../support/server.ts';

export interface SyncReport {
  /** Writes that were acknowledged, each sent after the one before it was. */
  readonly writes: number;
  /** What strace counted meanwhile: calls of fdatasync and fsync. */
  readonly syncs: number;
}

export function hasStrace(): boolean {
  return spawnSync('strace', ['-V']).status === 0;
}

export async function countSyncs(writes: number): Promise<SyncReport> {
  await using folder = await temporaryDirectory();
  await using server = await startServer('--store', `sqlite:${join(folder.path, 'rostrum.db')}`);
  const post = async (name: string) => {
    const response = await fetch(`${server.address}/api/v1/users`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name }),
    });
    if (response.status !== 201) throw new Error(`A write was answered ${response.status}.`);
    await response.arrayBuffer();
  };
  await post('before');

  const summary = join(folder.path, 'strace.txt');
  const tracer = await attach(server.process, summary);
  for (let i = 0; i < writes; i++) await post(`user ${i}`);
  const exit = once(tracer, 'exit');
  tracer.kill('SIGINT');
  await exit;
  return { writes, syncs: callsIn(await readFile(summary, 'utf8')) };
}

async function attach({ pid }: ChildProcess, summary: string): Promise<ChildProcess> {
  const args = ['-f', '-c', '-e', 'trace=fdatasync,fsync', '-o', summary, '-p', `${pid}`];
  const tracer = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  for await (const text of tracer.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    said += text;
    if (said.includes('attached')) return tracer;
  }
  throw new Error(`strace did not attach: ${said}`);
}

/** The column `calls` of what `strace -c` writes: the fourth, in the lines of the two calls. */
function callsIn(summary: string): number {
  const lines = summary.split('\n').filter((line) => /\b(fdatasync|fsync)$/.test(line));
  return lines.reduce((sum, line) => sum + Number(line.trim().split(/\s+/)[3]), 0);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { writes: { type: 'string', default: '200' } } });
  if (hasStrace()) {
    const { writes, syncs } = await countSyncs(Number(values.writes));
    console.log(`${writes} writes acknowledged, ${syncs} calls of fdatasync and fsync`);
    if (syncs < writes) process.exitCode = 1;
  } else {
    console.error(
      'strace is missing, and nothing else can count the syncs: apt-get install strace.',
    );
    process.exitCode = 1;
  }
}
