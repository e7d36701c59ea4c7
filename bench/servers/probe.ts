// Loaded into each server before its own code: tells the benchmark what the process has used.

import { Session } from 'node:inspector/promises';

export interface Usage {
  /** Processor time of all threads so far, user and system, in microseconds. */
  readonly cpuUs: number;
  readonly rssMiB: number;
}

/** How often each function was called since the last time, by the URL of its file. */
export type Calls = Readonly<Record<string, readonly number[]>>;

let session: Session | undefined;

async function countCalls(): Promise<Calls> {
  if (session === undefined) {
    session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true });
  }
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return Object.fromEntries(
    result.map(({ url, functions }) => [url, functions.map(({ ranges }) => ranges[0]?.count ?? 0)]),
  );
}

process.on('message', (asked) => {
  if (asked === 'calls') {
    void countCalls().then((calls) => process.send?.(calls));
    return;
  }
  const { user, system } = process.cpuUsage();
  const usage: Usage = { cpuUs: user + system, rssMiB: process.memoryUsage.rss() / 2 ** 20 };
  process.send?.(usage);
});
process.channel?.unref(); // The probe does not keep a server alive.
process.on('disconnect', () => process.exit()); // The benchmark ended before the server.
