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
 * waits for the large ones of others, nor does one that asks for no more records than usual.
 */
export class PageMemory {
  readonly #usual: Budget;
  readonly #large: Budget;
  readonly #turns = new Turns(charactersAtOnce);
  readonly #leave: (exchange: Exchange) => void;

  /** @param leave takes a list that may wait here out of the requests in progress */
  constructor(bytes: number, leave: (exchange: Exchange) => void) {
    this.#usual = new Budget(bytes / 4);
    this.#large = new Budget((bytes / 4) * 3);
    this.#leave = leave;
  }

  /**
   * Makes the body of a page; others may have to take theirs first.
   *
   * @throws RostrumError `overloaded`
   */
  async make(exchange: Exchange, limit: number, make: () => Promise<string>): Promise<string> {
    const isUsual = limit <= pageLimits.default;
    const budget = isUsual ? this.#usual : this.#large;
    const guess = limit > fewRecords ? limit * guessedRecord : 0;
    let share: Share | undefined;
    if (guess > 0) {
      this.#leave(exchange);
      share = await budget.wait(isUsual ? guess : pageLimits.bytes);
    }
    try {
      await this.#turns.take(guess);
      exchange.checkClient();
      const body = await make();
      this.#turns.spend(body.length - Math.max(guess, smallPage));
      if (body.length > smallPage) {
        if (share === undefined) share = await budget.wait(body.length);
        else budget.resize(share, body.length);
        keep(budget, share, exchange);
        share = undefined;
      }
      return body;
    } finally {
      if (share !== undefined) budget.give(share);
    }
  }
}

/** From here on, the client is who has to act. */
function keep(budget: Budget, share: Share, { res, req }: Exchange): void {
  if (res.destroyed || req.socket.destroyed) {
    budget.give(share);
  } else {
    budget.dependOn(share, () => req.socket.destroy());
    res.once('close', () => budget.give(share));
  }
}
