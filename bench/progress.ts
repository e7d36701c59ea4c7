/** Says on standard error what is under way; the results have standard output for themselves. */
export function say(line: string): void {
  const seconds = Math.round(performance.now() / 1000);
  console.error(`[${String(seconds).padStart(4)} s] ${line}`);
}

/** Says how far a long piece of work has come, every few seconds. */
export function sayProgress(what: string, total: number): (done: number) => void {
  const everyMs = 5000;
  let last = performance.now();
  return (done) => {
    if (performance.now() - last < everyMs) return;
    last = performance.now();
    say(`${what}: ${done.toLocaleString('en')} of ${total.toLocaleString('en')}`);
  };
}
