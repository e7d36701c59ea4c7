import { RostrumError } from '../../../domain/errors.ts';

/** Made once: a stack costs as much as all else of a refusal, and would say nothing. */
export const overloaded = new RostrumError('overloaded', {});

/** How many may wait in a line. */
export const longestLine = 1000;

interface Waiting {
  /** Tries to begin; true when it has. */
  readonly begin: () => boolean;
  readonly resolve: () => void;
}

/**
 * Requests that wait. Those of one key begin in the order in which they came. Keys take turns: one
 * client with many requests of one kind does not keep others waiting.
 */
export class Line {
  /** By key, in the order of their turns. */
  readonly #queues = new Map<string, Set<Waiting>>();
  readonly #turnMs: number;
  /** The key whose turn it is, and when that ends (`performance.now()`). */
  #turn: string | undefined;
  #turnEnds = 0;
  #length = 0;

  /** @param turnMs for how many milliseconds requests of one key begin before those of the next one */
  constructor(turnMs = 0) {
    this.#turnMs = turnMs;
  }

  get length(): number {
    return this.#length;
  }

  /** How many begin before one more of this key does. */
  ahead(key: string): number {
    const own = this.#queues.get(key)?.size ?? 0;
    return Math.min(this.#length, (own + 1) * this.#queues.size);
  }

  /**
   * Fulfilled when it has begun; rejected with the reason of the signal.
   *
   * @throws RostrumError `overloaded` when the line is as long as it may be
   */
  async wait(begin: () => boolean, signal: AbortSignal, key: string): Promise<void> {
    if (this.#length >= longestLine) throw overloaded;
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { begin, resolve };
    const queue = this.#queues.get(key) ?? new Set();
    this.#queues.set(key, queue.add(waiting));
    this.#length += 1;
    const end = () => {
      this.#remove(key, queue, waiting);
      reject(signal.reason);
    };
    signal.addEventListener('abort', end);
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', end);
    }
  }

  /** Lets the next one begin, if it can. @returns whether it did */
  next(): boolean {
    const now = performance.now();
    const [first] = this.#queues;
    if (first !== undefined && first[0] === this.#turn && now >= this.#turnEnds) {
      this.#queues.delete(first[0]);
      this.#queues.set(...first); // The last now.
    }
    for (const [key, queue] of this.#queues) {
      for (const waiting of queue) {
        if (!waiting.begin()) return false;
        if (key !== this.#turn) this.#turnEnds = now + this.#turnMs;
        this.#turn = key;
        this.#remove(key, queue, waiting);
        waiting.resolve();
        return true;
      }
    }
    return false;
  }

  /** Lets begin what can. */
  advance(): void {
    while (this.next());
  }

  #remove(key: string, queue: Set<Waiting>, waiting: Waiting): void {
    if (!queue.delete(waiting)) return;
    this.#length -= 1;
    if (queue.size === 0) this.#queues.delete(key);
  }
}

/** Lets a few of those that wait work at a time. */
export class Semaphore {
  readonly line = new Line();
  readonly #most: number;
  #underWay = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Begins where it need not wait; each that began has to {@link end}. */
  readonly begin = (): boolean => {
    if (this.#underWay >= this.#most) return false;
    this.#underWay += 1;
    return true;
  };

  readonly end = (): void => {
    this.#underWay -= 1;
    this.line.advance();
  };

  get isIdle(): boolean {
    return this.#underWay === 0;
  }
}
