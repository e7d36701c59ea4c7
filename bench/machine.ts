import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';

/** A core for the server, one for the client, and the rest for everything else, including `mongod`. */
const cores = chooseCores();

/** Undefined if there is no second core or no `taskset`. */
function chooseCores() {
  if (spawnSync('taskset', ['--version']).status !== 0) return undefined;
  const status = readFileSync('/proc/self/status', 'latin1');
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? '';
  const allowed = list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
  const [server, client, ...others] = allowed.map(String);
  if (server === undefined || client === undefined) return undefined;
  return { server, client, rest: [client, ...others].join() };
}

export type Role = 'server' | 'client';

/** Returns a command that runs pinned to a core, if possible. */
export function pinned(role: Role, command: readonly string[]): string[] {
  return cores === undefined ? [...command] : ['taskset', '-c', cores[role], ...command];
}

/** Moves this process and its children off the server's core. */
export function leaveServersCore(): void {
  if (cores !== undefined) execFileSync('taskset', ['-cp', cores.rest, String(process.pid)]);
}

/** Describes the machine. */
export function machineFacts(): string[] {
  const models = cpus();
  return [
    `${models.length} × ${models[0]?.model.trim() ?? 'unknown'}, ${type()} ${release()}`,
    `${Math.round(totalmem() / 2 ** 30)} GiB of memory`,
    `Node ${process.versions.node}, SQLite ${process.versions.sqlite}`,
    `load average before the run: ${loadavg()[0]?.toFixed(2)}`,
    cores === undefined
      ? 'processes are not pinned: there is no second core or no taskset'
      : `the server runs on core ${cores.server}, the client on core ${cores.client}`,
  ];
}
