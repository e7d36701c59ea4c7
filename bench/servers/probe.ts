// Loaded into each server before its own code: tells the benchmark what the process has used.

export interface Usage {
  /** Processor time of all threads so far, user and system, in microseconds. */
  readonly cpuUs: number;
  readonly rssMiB: number;
}

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  const usage: Usage = { cpuUs: user + system, rssMiB: process.memoryUsage.rss() / 2 ** 20 };
  process.send?.(usage);
});
process.channel?.unref(); // The probe does not keep a server alive.
process.on('disconnect', () => process.exit()); // The benchmark ended before the server.
