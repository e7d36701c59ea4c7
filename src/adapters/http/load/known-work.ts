/** What some work came to the last time. */
interface Known {
  /** Milliseconds, those of the store included: the smaller one of the last two times. */
  readonly ms: number;
  readonly lastMs: number;
  readonly bytes: number;
}

/** Work that takes longer is long. */
const longMs = 50;

/** How many keys are known. */
const most = 1000;

/**
 * How long work took, and to how many bytes it came: lists by their shape, records by their id. A list
 * by an order without an index takes long, and which those are, each store knows alone.
 */
export class KnownWork {
  /** What was done last is the last. */
  readonly #known = new Map<string, Known>();

  has(key: string): boolean {
    return this.#known.has(key);
  }

  bytesOf(key: string): number {
    return this.#known.get(key)?.bytes ?? 0;
  }

  /** Whether it was long, and the time before, too, where that is known: the process may pause once. */
  isLong(key: string): boolean {
    return (this.#known.get(key)?.ms ?? 0) > longMs;
  }

  /**
   * Does work, and learns how long it takes.
   *
   * @param isKept whether to know it when it was quick, too
   */
  async measure<T>(key: string, isKept: boolean, work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await work();
    } finally {
      const ms = performance.now() - start;
      const known = this.#known.get(key);
      const wasLong = known !== undefined && Math.max(known.ms, known.lastMs) > longMs;
      const isNew = known === undefined && isKept;
      if (isNew || wasLong || ms > longMs) {
        this.#set(key, known, { lastMs: ms, ms: Math.min(ms, known?.lastMs ?? ms) });
      }
    }
  }

  learnBytes(key: string, bytes: number): void {
    this.#set(key, this.#known.get(key), { bytes });
  }

  /** A value that falls is halved: it may have fallen by chance. */
  #set(key: string, known: Known | undefined, learned: Partial<Known>): void {
    const { ms = 0, lastMs = 0, bytes = 0 } = known ?? {};
    const next = { ms, lastMs, bytes, ...learned };
    this.#known.delete(key);
    this.#known.set(key, {
      ...next,
      ms: Math.max(next.ms, ms / 2),
      bytes: Math.max(next.bytes, bytes / 2),
    });
    const [oldest] = this.#known.keys();
    if (this.#known.size > most && oldest !== undefined) this.#known.delete(oldest);
  }
}
