/** What some work came to the last time. */
interface Known {
  /** Milliseconds, those of the store included: the smaller one of the last two times. */
  readonly ms: number;
  readonly lastMs: number;
  readonly bytes: number;
}

const nothing: Known = { ms: 0, lastMs: 0, bytes: 0 };

/** Work that takes longer is long. */
const longMs = 50;

/** As how many milliseconds one counts for which the process could do nothing else. */
const heldFactor = 25;

/** What comes to more bytes is large: to make and to send it takes as long as dozens of small ones. */
const largeBytes = 256 * 1024;

/** How many keys are known. */
const most = 1000;

/**
 * How long work took, and to how many bytes it came: lists by their shape, records by their id. A list
 * by an order without an index takes long, and which those are, each store knows alone.
 */
export class KnownWork {
  /** What was done last is the last. */
  readonly #known = new Map<string, Known>();
  readonly #begun = new Map<string, number>();

  bytesOf(key: string): number {
    return this.#known.get(key)?.bytes ?? 0;
  }

  /** Whether it came to many bytes. */
  isLarge(key: string): boolean {
    return this.bytesOf(key) > largeBytes;
  }

  /** Whether it was long, or so large that many at once hold the process. Of an unknown list, one is tried at a time. */
  isLong(key: string, isList: boolean, isMany: boolean): boolean {
    const known = this.#known.get(key);
    if (known === undefined) return isList && this.#begun.has(key);
    return known.ms > longMs || (isMany && known.bytes > largeBytes);
  }

  /** False, too, for what was long once: the process may have paused. */
  isKnown(key: string): boolean {
    const known = this.#known.get(key);
    return known !== undefined && (known.lastMs <= longMs || known.ms > longMs);
  }

  /**
   * Does work that was quick the last time.
   *
   * @param heldMs for how long other work held the process so far: that is none of its own time
   */
  async measureQuick<T>(key: string, work: () => Promise<T>, heldMs: () => number): Promise<T> {
    const start = performance.now() - heldMs();
    try {
      return await work();
    } finally {
      const ms = performance.now() - heldMs() - start;
      if (ms > longMs) this.#learnMs(key, ms);
    }
  }

  /**
   * Does work, and learns how long it takes.
   *
   * @param isKept whether to know it when it was quick, too
   * @param held told for how many milliseconds it held the process
   */
  async measure<T>(
    key: string,
    isKept: boolean,
    work: () => Promise<T>,
    held: (ms: number) => void,
  ): Promise<T> {
    const start = performance.now();
    let isOtherTurn = false;
    const turn = setImmediate(() => {
      isOtherTurn = true;
    });
    let heldMs = 0;
    this.#begun.set(key, (this.#begun.get(key) ?? 0) + 1);
    try {
      const making = work();
      heldMs = performance.now() - start;
      return await making;
    } finally {
      clearImmediate(turn);
      const ms = performance.now() - start;
      if (!isOtherTurn) heldMs = ms; // A store in this process does all in one turn.
      held(heldMs);
      const last = Math.max(ms, heldMs * heldFactor);
      if (isKept || last > longMs || this.#known.has(key)) this.#learnMs(key, last);
      const others = (this.#begun.get(key) ?? 0) - 1;
      if (others > 0) this.#begun.set(key, others);
      else this.#begun.delete(key);
    }
  }

  /** A value that falls is halved, as one that rises may have done so by chance. */
  #learnMs(key: string, lastMs: number): void {
    const known = this.#known.get(key) ?? nothing;
    this.#set(key, {
      ...known,
      lastMs,
      ms: Math.max(Math.min(lastMs, known.lastMs), known.ms / 2),
    });
  }

  learnBytes(key: string, bytes: number): void {
    const known = this.#known.get(key) ?? nothing;
    this.#set(key, { ...known, bytes: Math.max(bytes, known.bytes / 2) });
  }

  #set(key: string, known: Known): void {
    this.#known.delete(key);
    this.#known.set(key, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > most && oldest !== undefined) this.#known.delete(oldest);
  }
}
