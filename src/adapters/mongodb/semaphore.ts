/** A weighted semaphore; work waits in order. */
export class Semaphore {
  readonly #capacity: number;
  readonly #waiting: { readonly share: number; readonly start: () => void }[] = [];
  #taken = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** @param amount the work's share of the capacity, and at most all of it */
  async use<T>(amount: number, work: () => Promise<T>): Promise<T> {
    const share = Math.min(amount, this.#capacity);
    await new Promise<void>((start) => {
      this.#waiting.push({ share, start });
      this.#startNext();
    });
    try {
      return await work();
    } finally {
      this.#taken -= share;
      this.#startNext();
    }
  }

  #startNext(): void {
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      if (this.#taken + next.share > this.#capacity) return;
      this.#taken += next.share;
      this.#waiting.shift();
      next.start();
    }
  }
}
