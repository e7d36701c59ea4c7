/** A key, and how many requests can hold a slot of it. */
export interface Slot {
  readonly key: string;
  readonly capacity: number;
}

/** Counts the requests that hold a slot, by its key. */
export class KeyedSemaphore {
  readonly #held = new Map<string, number>();

  isFree({ key, capacity }: Slot): boolean {
    return (this.#held.get(key) ?? 0) < capacity;
  }

  /** Takes a slot. Returns the function that releases it. */
  take({ key }: Slot): () => void {
    this.#held.set(key, (this.#held.get(key) ?? 0) + 1);
    return () => {
      const count = (this.#held.get(key) ?? 1) - 1;
      if (count > 0) this.#held.set(key, count);
      else this.#held.delete(key);
    };
  }
}
