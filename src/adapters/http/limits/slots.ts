import { RostrumError } from '../../../domain/errors.ts';
import { clientKey } from '../client-address.ts';
import { type Context, RequestAborted } from '../context.ts';

/** In bytes. A larger response counts until its client has read it. */
const smallResponse = 64 * 1024;

export const slotLimits = {
  /** Requests in progress or waiting; one more is a 503. */
  total: 2000,
  /** How many requests of one client can wait in one class. Six classes of 300 stay below `total`. */
  waitingPerClient: 300,
  /** The shortest delay before the 503 of a request beyond that, to slow down retries; the longest is twice as long. */
  rejectMs: 2000,
  /** The longest that a request waits for a slot. */
  waitMs: 10_000,
  /** The slots of each class. With 4 slots for short lists, a page of 20 takes 1.4 times the processor time. */
  lists: 4,
  shortLists: 16,
  largeWrites: 4,
  uploads: 64,
  /**
   * Other reads, and writes with a small body. With 32, fewer reads share a command of MongoDB and fewer writes a commit
   * of SQLite. With 64, 200 clients that read posts of 1 MiB from MongoDB take over 450 MiB, and a creation in memory
   * takes an eighth more processor time.
   */
  reads: 48,
  writes: 48,
  /**
   * In milliseconds of an iteration of the event loop. A read's size is unknown until it is done, so a class stops
   * starting requests after this much of one iteration.
   */
  iterationMs: 20,
  /** Large responses of one class that clients are reading. */
  unread: 24,
  /**
   * How often transfers are closed while requests wait, and how old one must be to be closed, in milliseconds. A client
   * with many large bodies or responses at a time must not block the transfers of others.
   */
  transferMs: 1000,
};

/** Created once, because capturing the stack costs more than the rest of a rejection. */
export const overloaded = new RostrumError('overloaded', {});

/** Releases what a request has reserved: at its end, or earlier for a request that only waits. */
export function releaseSlots({ state: { rostrum } }: Context): void {
  for (const release of rostrum.releases.splice(0)) release();
}

/** Counts the connections that all servers started by `serve` have accepted. */
export const acceptedConnections = { count: 0 };

/** For how many iterations of the event loop waiting requests let new connections go first. */
const maxSkipped = 64;

/** Fulfilled when a rejection is due, or when the client leaves. */
async function rejectionTime({ res }: Context): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const ms = slotLimits.rejectMs * (1 + Math.random()); // Spread, so that they don't end at once.
  const timer = setTimeout(resolve, ms);
  res.once('close', resolve);
  await promise;
  clearTimeout(timer);
}

/**
 * The slots of one class of requests. Clients take turns; the requests of one client keep their order. A slot is free
 * again in the next iteration of the event loop, so that an iteration starts no more requests than there are slots.
 */
export class Slots {
  waiting = 0;
  /** The start time of each large body that is arriving, or of each large response that is being read. */
  readonly transfers = new Map<Context, number>();
  readonly #capacity: number;
  readonly #maxTransfers: number;
  /** Running requests that hold a slot. */
  #running = 0;
  readonly #queues = new Map<string, Set<() => void>>();
  /** Closes transfers while requests wait. */
  #closing: NodeJS.Timeout | undefined;
  /** How many slots become free in the next iteration. */
  #toFree = 0;
  #isScheduled = false;
  /** When this class began to work in this iteration. */
  #workBegan = 0;
  /** How many waiting requests an iteration starts: one after a long iteration, and twice as many after a short one. */
  #atOnce = 1;
  /** The number of accepted connections in the last iteration that could start requests. */
  #accepted = 0;
  /** How many iterations in a row have started no requests because of a new connection. */
  #skippedIterations = 0;

  constructor(capacity: number, maxTransfers = slotLimits.unread) {
    this.#capacity = capacity;
    this.#maxTransfers = maxTransfers;
  }

  /** While clients read large responses, running requests count, too: each may produce one. */
  get #isFree(): boolean {
    const { size } = this.transfers;
    const isBelowLimit = size === 0 || size + this.#running < this.#maxTransfers;
    return this.#running < this.#capacity && isBelowLimit;
  }

  /** True once this class has used its time in this iteration. */
  get #isOverTime(): boolean {
    return performance.now() - this.#workBegan > slotLimits.iterationMs;
  }

  /** Takes a slot until the request ends: 503 after a wait. */
  take(ctx: Context): Promise<void> | undefined {
    const occupy = () => {
      this.#running += 1;
      ctx.state.rostrum.releases.push(() => {
        this.#toFree += 1;
        this.#schedule();
      });
    };
    this.#schedule();
    if (this.waiting > 0 || !this.#isFree || this.#isOverTime) return this.#wait(ctx, occupy);
    occupy();
    return undefined;
  }

  /** Frees slots and starts waiting requests in the next iteration. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#workBegan = performance.now();
    setImmediate(this.#startNext);
  }

  /**
   * Starts no requests in an iteration that brings a new connection: Node accepts one per iteration, so that others can
   * connect only if iterations are short.
   */
  readonly #startNext = (): void => {
    this.#isScheduled = false;
    if (this.#isOverTime) this.#atOnce = 1;
    const isConnecting = acceptedConnections.count > this.#accepted;
    this.#accepted = acceptedConnections.count;
    if (isConnecting && this.#skippedIterations < maxSkipped) {
      this.#skippedIterations += 1;
      this.#schedule();
      return;
    }
    this.#skippedIterations = 0;
    if (!this.#isOverTime) this.#atOnce = Math.min(2 * this.#atOnce, slotLimits.total);
    this.#running -= this.#toFree;
    this.#toFree = 0;
    let begun = 0;
    for (const [client, queue] of this.#queues) {
      const [wake] = queue;
      if (wake === undefined || begun === this.#atOnce || !this.#isFree) break;
      begun += 1;
      queue.delete(wake);
      this.#queues.delete(client);
      if (queue.size > 0) this.#queues.set(client, queue); // It is last now.
      wake();
    }
    if (begun > 0) this.#schedule();
  };

  /** Counts a large response until its client has read it. */
  trackUnreadResponse(ctx: Context): void {
    const { res, response, method } = ctx;
    if ((response.length ?? 0) <= smallResponse || method === 'HEAD' || res.destroyed) return;
    this.transfers.set(ctx, performance.now());
    res.once('close', () => {
      this.transfers.delete(ctx);
      this.#schedule();
    });
  }

  /** Closes the older half of the transfers of the client that has the most, except for those that have just begun. */
  #closeOlderHalf(): void {
    const byClient = Map.groupBy(this.transfers, ([ctx]) => clientKey(ctx));
    const [most = []] = [...byClient.values()].sort((a, b) => b.length - a.length);
    const latest = performance.now() - slotLimits.transferMs;
    for (const [ctx, since] of most.slice(0, Math.floor(most.length / 2))) {
      if (since <= latest) ctx.req.socket.destroy();
    }
  }

  async #wait(ctx: Context, occupy: () => void): Promise<void> {
    const client = clientKey(ctx);
    const queue = this.#queues.get(client) ?? new Set();
    if (queue.size >= slotLimits.waitingPerClient) {
      // A client that retries at once would take as much time as requests that are served. While it waits for its
      // 503, it doesn't count.
      releaseSlots(ctx);
      await rejectionTime(ctx);
      throw overloaded;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const wake = () => resolve(occupy());
    const fail = (error: Error) => {
      if (queue.delete(wake) && queue.size === 0) this.#queues.delete(client);
      reject(error);
    };
    const onClose = () => fail(new RequestAborted());
    const timer = setTimeout(fail, slotLimits.waitMs, overloaded);
    ctx.res.once('close', onClose);
    this.#queues.set(client, queue.add(wake));
    this.waiting += 1;
    this.#closing ??= setInterval(() => this.#closeOlderHalf(), slotLimits.transferMs);
    try {
      await promise;
    } finally {
      this.waiting -= 1;
      if (this.waiting === 0) {
        clearInterval(this.#closing);
        this.#closing = undefined;
      }
      clearTimeout(timer);
      ctx.res.off('close', onClose);
    }
  }
}
