import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';

/** What the figures were measured on. */
export function machineFacts(): string[] {
  const [cpu] = cpus();
  return [
    `${type()} ${release()}, ${availableParallelism()} × ${cpu?.model.trim() ?? 'unknown'}`,
    `${Math.round(totalmem() / 2 ** 30)} GiB of memory`,
    `Node ${process.versions.node}, SQLite ${process.versions.sqlite}`,
    `load average before the start: ${loadavg()[0]?.toFixed(2)}`,
  ];
}
