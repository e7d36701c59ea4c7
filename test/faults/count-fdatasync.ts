// Counts how often the server syncs its SQLite file while it acknowledges writes, which must be at least once
// per commit. kill -9 cannot test this, because the operating system keeps data that was not synced.
//
//   node test/faults/count-fdatasync.ts [--writes 200]

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { startServer } from '../support/server.ts';

const { values } = parseArgs({ options: { writes: { type: 'string', default: '200' } } });
const writes = Number(values.writes);

await using folder = await temporaryDirectory();
await using server = await startServer('--store', `sqlite:${join(folder.path, 'rostrum.db')}`);

async function post(name: string): Promise<void> {
  const response = await fetch(`${server.address}/api/v1/users`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  if (response.status !== 201) throw new Error(`The response to a write is ${response.status}.`);
  await response.arrayBuffer();
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

/** Returns the sum of the fourth column, `calls`, of fdatasync and fsync in the output of `strace -c`. */
function callsIn(summary: string): number {
  const lines = summary.split('\n').filter((line) => /\b(fdatasync|fsync)$/.test(line));
  return lines.reduce((sum, line) => sum + Number(line.trim().split(/\s+/)[3]), 0);
}

if (spawnSync('strace', ['-V']).status !== 0) {
  throw new Error('Nothing but strace can count the syncs: apt-get install strace.');
}
await post('before');
const summary = join(folder.path, 'strace.txt');
const tracer = await attach(server.process, summary);
// Send each write after the previous one was acknowledged.
for (let i = 0; i < writes; i++) await post(`user ${i}`);
const exit = once(tracer, 'exit');
tracer.kill('SIGINT');
await exit;
const syncs = callsIn(await readFile(summary, 'utf8'));
console.log(`${writes} writes acknowledged, ${syncs} calls of fdatasync and fsync`);
if (syncs < writes) process.exitCode = 1;
