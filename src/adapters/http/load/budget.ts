import { RostrumError } from '../../../domain/errors.ts';
import type { Exchange } from '../exchange.ts';

/** What of a budget somebody holds. */
export interface Share {
  bytes: number;
  /** Ends the connection of the client whom the share waits for; absent while it waits for us. */
  cut: (() => void) | undefined;
  /** Since when it waits for the client (`performance.now()`). */
  since: number;
}

interface Waiting {
  readonly bytes: number;
  readonly resolve: (share: Share) => void;
}

/** How long, in milliseconds, clients may take. */
export interface Patience {
  /** How long a share may wait for its client, when others need the room. */
  readonly holderMs: number;
  /** How long somebody waits for room. */
  readonly waiterMs: number;
}

const defaultPatience: Patience = { holderMs: 2000, waiterMs: 10_000 };

/**
 * Memory that many requests share. What one takes, it gives back. Where there is no room, the
 * client who has held its share for the longest time is cut off first.
 */
export class Budget {
  readonly #limit: number;
  readonly #patience: Patience;
  readonly #shares = new Set<Share>();
  readonly #waiting = new Set<Waiting>();
  #held = 0;
  #cutting: NodeJS.Timeout | undefined;

  /** @param limit in bytes; one share may be larger, when it is the only one */
  constructor(limit: number, patience = defaultPatience) {
    this.#limit = limit;
    this.#patience = patience;
  }

  /**
   * @param cut as in {@link dependOn}, for a share that waits for its client at once
   * @throws RostrumError `overloaded`
   */
  take(bytes: number, cut?: () => void): Share {
    while (!this.#hasRoom(bytes)) {
      if (!this.#cutOldest()) throw new RostrumError('overloaded', {});
    }
    return this.#open(bytes, cut);
  }

  /** A share that cannot be refused: for it, those who have held theirs longest are cut off at once. */
  force(bytes: number): Share {
    while (!this.#hasRoom(bytes) && this.#cutOldest(0));
    return this.#open(bytes);
  }

  /** A share, if there is room and nobody waits for it. */
  tryTake(bytes: number): Share | undefined {
    return this.#waiting.size === 0 && this.#hasRoom(bytes) ? this.#open(bytes) : undefined;
  }

  /**
   * Waits in line for room.
   *
   * @throws RostrumError `overloaded` when it does not come in time
   */
  async wait(bytes: number): Promise<Share> {
    const share = this.tryTake(bytes);
    if (share !== undefined) return share;
    const { promise, resolve, reject } = Promise.withResolvers<Share>();
    const waiting = { bytes, resolve };
    this.#waiting.add(waiting);
    const { holderMs, waiterMs } = this.#patience;
    const late = setTimeout(() => reject(new RostrumError('overloaded', {})), waiterMs);
    // One at a time: most clients are only as slow as the others let them be.
    this.#cutting ??= setInterval(() => this.#cutOldest(), holderMs / 5);
    try {
      return await promise;
    } finally {
      clearTimeout(late);
      this.#waiting.delete(waiting);
      if (this.#waiting.size === 0) {
        clearInterval(this.#cutting);
        this.#cutting = undefined;
      }
    }
  }

  /** Says that a share waits for its client from now on, and how to cut that off. */
  dependOn(share: Share, cut: () => void): void {
    share.cut = cut;
    share.since = performance.now();
    // Behind those that wait for longer.
    if (this.#shares.delete(share)) this.#shares.add(share);
  }

  /** Lets a share hold more; without room for it, its client is cut off. */
  grow(share: Share, bytes: number): void {
    if (!this.#shares.has(share)) return;
    this.#held += bytes - share.bytes;
    share.bytes = bytes;
    if (this.#held <= this.#limit) return;
    share.cut?.();
    this.give(share);
  }

  /** Keeps a share until its client has taken the response: from here on, the client has to act. */
  keep(share: Share, { res, req }: Pick<Exchange, 'res' | 'req'>): void {
    if (res.destroyed || req.socket.destroyed) {
      this.give(share);
    } else {
      this.dependOn(share, () => req.socket.destroy());
      res.once('close', () => this.give(share));
    }
  }

  /** Says how much a share holds by now, and that it waits for nobody. */
  resize(share: Share, bytes: number): void {
    if (!this.#shares.has(share)) return;
    share.cut = undefined;
    this.#held += bytes - share.bytes;
    share.bytes = bytes;
    this.#admit();
  }

  give(share: Share): void {
    if (!this.#shares.delete(share)) return;
    this.#held -= share.bytes;
    this.#admit();
  }

  #hasRoom(bytes: number): boolean {
    return this.#held === 0 || this.#held + bytes <= this.#limit;
  }

  #open(bytes: number, cut?: () => void): Share {
    const share = { bytes, cut, since: cut === undefined ? 0 : performance.now() };
    this.#shares.add(share);
    this.#held += bytes;
    return share;
  }

  #admit(): void {
    for (const waiting of this.#waiting) {
      if (!this.#hasRoom(waiting.bytes)) return;
      this.#waiting.delete(waiting);
      waiting.resolve(this.#open(waiting.bytes));
    }
  }

  #cutOldest(patienceMs = this.#patience.holderMs): boolean {
    const before = performance.now() - patienceMs;
    for (const share of this.#shares) {
      if (share.cut === undefined || share.since > before) continue;
      share.cut();
      this.give(share);
      return true;
    }
    return false;
  }
}
