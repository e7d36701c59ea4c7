/** Turns the first SIGINT or SIGTERM into an abort; a second one ends the process as ever. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** Leaves signals alone again. */
  stop(): void;
}

const signals = ['SIGINT', 'SIGTERM'] as const;

export function onInterruption(): Interruption {
  const controller = new AbortController();
  const abort = (): void => {
    stop();
    controller.abort();
  };
  const stop = (): void => {
    for (const signal of signals) process.removeListener(signal, abort);
  };
  for (const signal of signals) process.on(signal, abort);
  return { signal: controller.signal, stop };
}
