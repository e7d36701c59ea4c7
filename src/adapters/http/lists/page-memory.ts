import { pageLimits } from '../../../domain/list.ts';
import { Budget, type Share } from '../budget.ts';
import type { Exchange } from '../exchange.ts';
import { Turns } from '../turns.ts';

/** Pages of so many records at most are made at once, and bounded when their size is known. */
const fewRecords = 20;

/** How many characters pages may have that are made one after another, before others have their turns. */
const charactersAtOnce = 1024 * 1024;

/** How long a record is thought to be until its page is made. */
const guessedRecord = 1024;

/** Pages up to so many characters are not counted: they are served whatever others hold. */
const smallPage = 64 * 1024;

/**
 * Bounds the memory of pages, from their making until their clients have taken them. A client may
 * ask for large pages on many connections and read none of them. A list whose page is small never
 * waits for the large ones of others.
 */
export class PageMemory {
  readonly #budget: Budget;
  readonly #turns = new Turns(charactersAtOnce);

  readonly #leave: (exchange: Exchange) => void;

  /** @param leave takes a list that may wait here out of the requests in progress */
  constructor(bytes: number, leave: (exchange: Exchange) => void) {
    this.#budget = new Budget(bytes);
    this.#leave = leave;
  }

  /**
   * Makes the body of a page; others may have to take theirs first.
   *
   * @throws RostrumError `overloaded`
   */
  async make(exchange: Exchange, limit: number, make: () => Promise<string>): Promise<string> {
    if (limit > fewRecords) this.#leave(exchange);
    let share = limit > fewRecords ? await this.#budget.wait(pageLimits.bytes) : undefined;
    try {
      const guess = share === undefined ? 0 : limit * guessedRecord;
      await this.#turns.take(guess);
      exchange.checkClient();
      const body = await make();
      this.#turns.spend(body.length - Math.max(guess, smallPage));
      if (body.length > smallPage) {
        if (share === undefined) share = await this.#budget.wait(body.length);
        else this.#budget.resize(share, body.length);
        this.#keep(share, exchange);
        share = undefined;
      }
      return body;
    } finally {
      if (share !== undefined) this.#budget.give(share);
    }
  }

  /** From here on, the client is who has to act. */
  #keep(share: Share, { res, req }: Exchange): void {
    if (res.destroyed || req.socket.destroyed) {
      this.#budget.give(share);
    } else {
      this.#budget.dependOn(share, () => req.socket.destroy());
      res.once('close', () => this.#budget.give(share));
    }
  }
}
