/** Says on standard error what is under way; the results have standard output for themselves. */
export function say(line: string): void {
  const seconds = Math.round(performance.now() / 1000);
  console.error(`[${String(seconds).padStart(4)} s] ${line}`);
}
