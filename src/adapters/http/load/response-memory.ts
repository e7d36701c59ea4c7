import { pageLimits } from '../../../domain/list.ts';
import type { Exchange } from '../exchange.ts';
import type { Response } from '../response.ts';
import type { Admission } from './admission.ts';
import { Budget } from './budget.ts';
import { SlowWork } from './slow-work.ts';
import { type Begun, WorkQueue } from './work-queue.ts';

/** How many bytes responses may have that are made one after another, before others are. */
const bytesAtOnce = 1024 * 1024;

/** How many bytes lists may have that are under way, in a store that makes several at once. */
const bytesUnderWay = 16 * 1024 * 1024;

/** As how many bytes a millisecond counts for which the store kept everybody waiting. */
const bytesPerMs = 128 * 1024;

/** How much of a record is parsed, changed and written in a millisecond, at worst. */
const changedPerMs = 4 * 1024;

/** Bodies of so many bytes at most are not counted: they are sent whatever others hold. */
const uncounted = 64 * 1024;

/** How long a client may hold room, and others wait for it: a list of one may be as large as any. */
const patience = { holderMs: 1000, waiterMs: 10_000 };

/** How long, in milliseconds, work waits to be begun. */
const queueMs = 5000;

/** How many bytes of records a store finds and reads in a millisecond, at worst. */
const readPerMs = 512 * 1024;

interface Work {
  readonly shape: string;
  readonly queue: WorkQueue;
  /** Undefined where it is not known. */
  readonly cost: number | undefined;
  make(): Promise<Response>;
}

/**
 * Bounds the memory of large responses, from their making until their clients have taken them. A
 * client may ask for them on many connections and read none. A small response never waits for clients
 * to take the large ones of others, unless its request asks for more records than usual.
 */
export class ResponseMemory {
  readonly #usual: Budget;
  readonly #large: Budget;
  readonly #changes: Budget;
  readonly #queues = {
    lists: new WorkQueue(bytesAtOnce, { mostUnderWay: bytesUnderWay }),
    slowLists: new WorkQueue(bytesAtOnce),
    changes: new WorkQueue(bytesAtOnce),
    /** One at a time: in a store that others share, those of one record would be in each other's way. */
    slowChanges: new WorkQueue(bytesAtOnce, { mostUnderWay: 1 }),
  };
  readonly #slowLists = new SlowWork(true);
  readonly #slowChanges = new SlowWork(false);
  readonly #admission: Pick<Admission, 'enter' | 'leave'>;

  /** @param admission counts requests that wait here as none in progress */
  constructor(bytes: number, admission: Pick<Admission, 'enter' | 'leave'>) {
    this.#usual = new Budget(bytes / 5, patience);
    this.#changes = new Budget(bytes / 5, patience);
    this.#large = new Budget((bytes / 5) * 3, patience);
    this.#admission = admission;
  }

  /**
   * Makes the response to a read of one record. It waits for others only where it proves to be large.
   *
   * @param make is called again for a response that proves to be large when there is no room for it:
   *   to wait with it in hand would take the room
   * @throws RostrumError `overloaded`
   */
  async read(exchange: Exchange, make: () => Promise<Response>): Promise<Response> {
    const response = await make();
    const length = lengthOf(response);
    if (length <= uncounted) return response;
    const { lists: queue } = this.#queues;
    queue.spend(length - uncounted);
    return this.#keep(exchange, { shape: '', queue, cost: undefined, make }, response, length);
  }

  /**
   * Makes a list of so many records at most; clients may have to take others first.
   *
   * @param shape what is asked for: where that took long lately, it waits for others of such shapes, and
   *   quick ones do not wait for it
   * @param make as in {@link read}
   * @throws RostrumError `overloaded`
   */
  list(
    exchange: Exchange,
    records: number,
    shape: string,
    make: () => Promise<Response>,
  ): Promise<Response> {
    const work = this.#workOf(shape, make);
    if (records > pageLimits.default) {
      return this.#makeQueued(exchange, work, pageLimits.bytes, this.#large);
    }
    // One record is not worth a queue: whoever asks for one does not wait for large lists.
    return this.#makeUsual(exchange, work, records <= 1 && work.cost === undefined);
  }

  #workOf(shape: string, make: () => Promise<Response>): Work {
    const slowMs = this.#slowLists.msOf(shape);
    const queue = slowMs === undefined ? this.#queues.lists : this.#queues.slowLists;
    return { shape, queue, cost: slowMs && slowMs * bytesPerMs, make };
  }

  /**
   * Makes a change. One of a large record takes long, however short the request is: it waits for others
   * like it, and those of small records do not.
   *
   * @param id of the record; undefined for a deletion, which may take long for many others
   * @throws RostrumError `overloaded` when it waited too long
   */
  async change(
    exchange: Exchange,
    id: string | undefined,
    make: () => Promise<Response>,
  ): Promise<Response> {
    const slowMs = id === undefined ? undefined : this.#slowChanges.msOf(id);
    const queue = slowMs === undefined ? this.#queues.changes : this.#queues.slowChanges;
    const expected = slowMs && slowMs * bytesPerMs;
    const begun = queue.tryTake(expected) ?? (await this.#wait(exchange, queue, expected));
    const { making, heldMs } = begin(make);
    // Only the memory store has changed it by now; other stores let others have their turns themselves.
    const cost = Math.max(heldMs * bytesPerMs - uncounted, 0);
    let ms = Math.max(heldMs, slowMs ?? 0); // All that is known of what fails.
    try {
      const response = await making;
      ms = Math.max(heldMs, Math.max(lengthOf(response), response.madeOf ?? 0) / changedPerMs);
      return this.hold(exchange, response);
    } finally {
      if (id !== undefined) this.#slowChanges.learn(id, ms);
      queue.settle(begun, cost);
    }
  }

  /** Holds the response to a change. That is made: its response can neither wait nor be refused. */
  hold(exchange: Exchange, response: Response): Response {
    const length = lengthOf(response);
    if (length > uncounted) this.#changes.keep(this.#changes.force(length), exchange);
    return response;
  }

  async #makeUsual(exchange: Exchange, work: Work, isAlone: boolean): Promise<Response> {
    const { queue, cost } = work;
    const begun = isAlone
      ? undefined
      : (queue.tryTake(cost) ?? (await this.#wait(exchange, queue, cost)));
    if (begun !== undefined && cost === undefined && this.#slowLists.msOf(work.shape)) {
      queue.cancel(begun); // It was not known to be slow when it began to wait.
      return this.#makeUsual(exchange, this.#workOf(work.shape, work.make), false);
    }
    const response = await this.#make(work, begun);
    const length = lengthOf(response);
    return length <= uncounted ? response : this.#keep(exchange, work, response, length);
  }

  /** Keeps a large response, or drops it where there is no room, to make it again in the queue. */
  async #keep(
    exchange: Exchange,
    work: Work,
    response: Response,
    length: number,
  ): Promise<Response> {
    const share = this.#usual.tryTake(length);
    if (share === undefined) return this.#makeQueued(exchange, work, length, this.#usual);
    this.#usual.keep(share, exchange);
    return response;
  }

  async #makeQueued(
    exchange: Exchange,
    work: Work,
    bytes: number,
    budget: Budget,
  ): Promise<Response> {
    const { queue, cost = 0 } = work;
    this.#admission.leave(exchange);
    const share = await budget.wait(bytes);
    try {
      const response = await this.#make(
        work,
        await this.#wait(exchange, queue, Math.max(bytes, cost)),
      );
      const length = lengthOf(response);
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

  /** Waits in a queue, and is not in progress meanwhile. */
  async #wait(exchange: Exchange, queue: WorkQueue, cost: number | undefined): Promise<Begun> {
    const { inProgress } = exchange;
    this.#admission.leave(exchange);
    const begun = await queue.take(cost, queueMs);
    try {
      exchange.checkWaited();
      if (inProgress !== undefined) this.#admission.enter(exchange, inProgress);
      return begun;
    } catch (error) {
      queue.cancel(begun);
      throw error;
    }
  }

  /** @param begun absent for what does not wait for others; they wait for it */
  async #make({ shape, queue, make }: Work, begun?: Begun): Promise<Response> {
    let cost = 0; // Of what fails, nothing is known.
    let isSlow = false;
    try {
      const { making, heldMs } = begin(make);
      const response = await making;
      const length = lengthOf(response);
      const ms = heldMs + (response.parsingMs ?? 0);
      this.#slowLists.learn(shape, ms - length / readPerMs);
      cost = Math.max(length, ms * bytesPerMs, uncounted) - uncounted;
      isSlow = this.#slowLists.msOf(shape) !== undefined;
      return response;
    } finally {
      // What is slow has its own queue from now on: quick ones are not reckoned with its cost.
      if (begun !== undefined && !isSlow) queue.settle(begun, cost);
      else queue.spend(cost);
      if (begun !== undefined && isSlow) queue.cancel(begun);
    }
  }
}

/** Begins to make a response, and says for how long that kept everybody waiting. */
function begin(make: () => Promise<Response>) {
  const start = performance.now();
  const making = make(); // An embedded store has read all by the end of this.
  return { making, heldMs: performance.now() - start };
}

/** How many bytes a body has, or 0 where it is surely too short to count: a character has three at most. */
function lengthOf({ body = '' }: Response): number {
  return typeof body === 'string' && body.length * 3 <= uncounted ? 0 : Buffer.byteLength(body);
}
