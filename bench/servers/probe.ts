// Loaded into each server before its own code. Reports the resource usage of the process to the benchmark.

export interface Usage {
  /** User and system CPU time of all threads so far, in microseconds. */
  readonly cpuUs: number;
  readonly rssMiB: number;
}

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  const usage: Usage = { cpuUs: user + system, rssMiB: process.memoryUsage.rss() / 2 ** 20 };
  process.send?.(usage);
});
process.channel?.unref(); // The channel must not keep the server alive.
process.on('disconnect', () => process.exit()); // The benchmark ended before the server.
