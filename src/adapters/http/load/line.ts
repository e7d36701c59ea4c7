/** Tries to begin; true when it has. */
type Begin = () => boolean;

interface Waiting {
  readonly begin: Begin;
  readonly key: string;
  readonly resolve: () => void;
}

/**
 * Requests that wait. Those of one key begin in the order in which they came; keys take turns, so that
 * one client with many requests of one kind does not keep others waiting.
 */
export class Line {
  readonly #waiting = new Set<Waiting>();
  /** When a key had its last turn, as a count of turns. */
  readonly #turns = new Map<string, number>();
  #turn = 0;

  get length(): number {
    return this.#waiting.size;
  }

  /** Fulfilled when it has begun; rejected with the reason of the signal. */
  async wait(begin: Begin, signal: AbortSignal, key = ''): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { begin, key, resolve };
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
    for (let next = this.#next(); next?.begin(); next = this.#next()) {
      this.#waiting.delete(next);
      this.#turn += 1;
      this.#turns.set(next.key, this.#turn);
      next.resolve();
    }
    if (this.#waiting.size === 0) this.#turns.clear();
  }

  /** The first one of the key that had no turn for longest. */
  #next(): Waiting | undefined {
    let [first, turn]: [Waiting | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
    for (const waiting of this.#waiting) {
      const last = this.#turns.get(waiting.key) ?? 0;
      if (last < turn) [first, turn] = [waiting, last];
      if (last === 0) break;
    }
    return first;
  }
}
