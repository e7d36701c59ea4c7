import { RostrumError } from '../../../domain/errors.ts';
import { pageLimits } from '../../../domain/list.ts';
import type { Exchange } from '../exchange.ts';
import { bytesOf } from '../long-text.ts';
import type { Response } from '../response.ts';
import { Budget } from './budget.ts';
import { Turns } from './turns.ts';

/** How many bytes responses may have that are made one after another, before others have their turns. */
const bytesAtOnce = 1024 * 1024;

/** Bodies of so many bytes at most are not counted: they are sent whatever others hold. */
const uncounted = 64 * 1024;

/** How long a client may hold room, and others wait for it: a list of one may be as large as any. */
const patience = { holderMs: 1000, waiterMs: 10_000 };

/**
 * Bounds the memory of large responses, from their making until their clients have taken them. A
 * client may ask for them on many connections and read none. A small response never waits for the
 * large ones of others, unless its request asks for more records than usual.
 */
export class ResponseMemory {
  readonly #usual: Budget;
  readonly #large: Budget;
  readonly #changes: Budget;
  readonly #turns = new Turns(bytesAtOnce);
  /** For what parses records: a megabyte may take 200 ms, so that more turns are left to others. */
  readonly #parsing = new Turns(bytesAtOnce, 256);
  readonly #leave: (exchange: Exchange) => void;

  /** @param leave takes a request that may wait here out of those in progress */
  constructor(bytes: number, leave: (exchange: Exchange) => void) {
    this.#usual = new Budget(bytes / 5, patience);
    this.#changes = new Budget(bytes / 5, patience);
    this.#large = new Budget((bytes / 5) * 3, patience);
    this.#leave = leave;
  }

  /**
   * Makes a response of so many records at most; clients may have to take others first.
   *
   * @param make is called again for a response that proves to be large when there is no room for it:
   *   to wait with it in hand would take the room
   * @param isParsed whether each record has to be parsed: lists that are only read do not wait for these
   * @throws RostrumError `overloaded`
   */
  make(
    exchange: Exchange,
    records: number,
    make: () => Promise<Response>,
    isParsed = false,
  ): Promise<Response> {
    const turns = isParsed ? this.#parsing : this.#turns;
    if (records > pageLimits.default) {
      return this.#makeInTurn(exchange, turns, pageLimits.bytes, this.#large, make);
    }
    // One record is not worth a line: whoever asks for one does not wait for large lists.
    return this.#makeUsual(exchange, turns, records <= 1 && !isParsed, make);
  }

  /**
   * Makes a change in its turn: one of a large record takes long, however short the request is.
   *
   * @throws RostrumError `overloaded` when its turn came too late
   */
  async change(exchange: Exchange, make: () => Promise<Response>): Promise<Response> {
    const since = performance.now();
    if (!this.#parsing.isFree) this.#leave(exchange);
    const reckoned = await this.#parsing.take();
    let cost = reckoned; // Of what fails, nothing is known.
    try {
      exchange.checkClient();
      if (performance.now() - since > patience.waiterMs) throw new RostrumError('overloaded', {});
      const response = await make();
      cost = Math.max(workOf(response, lengthOf(response)) - uncounted, 0);
      return this.hold(exchange, response);
    } finally {
      this.#parsing.settle(reckoned, cost);
    }
  }

  /** Holds the response to a change. That is made: its response can neither wait nor be refused. */
  hold(exchange: Exchange, response: Response): Response {
    const length = lengthOf(response);
    if (length > uncounted) this.#changes.keep(this.#changes.force(length), exchange);
    return response;
  }

  /** Makes a response, and drops it where it is large and has no room, to make it again in its turn. */
  async #makeUsual(
    exchange: Exchange,
    turns: Turns,
    isAlone: boolean,
    make: () => Promise<Response>,
  ): Promise<Response> {
    let reckoned = 0;
    if (!isAlone) {
      reckoned = await turns.take();
      exchange.checkWaited();
    }
    const response = await make();
    const length = lengthOf(response);
    const cost = Math.max(workOf(response, length) - uncounted, 0);
    if (isAlone) turns.spend(cost);
    else turns.settle(reckoned, cost);
    if (length <= uncounted) return response;
    const share = this.#usual.tryTake(length);
    if (share === undefined) return this.#makeInTurn(exchange, turns, length, this.#usual, make);
    this.#usual.keep(share, exchange);
    return response;
  }

  async #makeInTurn(
    exchange: Exchange,
    turns: Turns,
    bytes: number,
    budget: Budget,
    make: () => Promise<Response>,
  ): Promise<Response> {
    this.#leave(exchange);
    const share = await budget.wait(bytes);
    try {
      await turns.take(bytes);
      exchange.checkWaited();
      const response = await make();
      const length = lengthOf(response);
      turns.spend(workOf(response, length) - bytes);
      if (length > uncounted) {
        budget.resize(share, length);
        budget.keep(share, exchange);
      } else {
        budget.give(share);
      }
      return response;
    } catch (error) {
      budget.give(share);
      throw error;
    }
  }
}

/** What it took to make a response of such a length. */
function workOf({ madeOf = 0 }: Response, length: number): number {
  return Math.max(length, madeOf);
}

/** How many bytes a body has, or 0 where it is surely too short to count: a character has three at most. */
function lengthOf({ body = '' }: Response): number {
  return typeof body === 'string' && body.length * 3 <= uncounted ? 0 : bytesOf(body);
}
