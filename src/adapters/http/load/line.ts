/** Tries to begin; true when it has. */
type Begin = () => boolean;

/** Requests that wait, in the order in which they came. */
export class Line {
  readonly #waiting = new Set<{ begin: Begin; resolve: () => void }>();

  get length(): number {
    return this.#waiting.size;
  }

  /** Fulfilled when it has begun; rejected with the reason of the signal. */
  async wait(begin: Begin, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { begin, resolve };
    const end = () => reject(signal.reason);
    this.#waiting.add(waiting);
    signal.addEventListener('abort', end);
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', end);
      this.#waiting.delete(waiting);
    }
  }

  /** Lets begin what can. */
  advance(): void {
    for (const waiting of this.#waiting) {
      if (!waiting.begin()) return;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }
}
