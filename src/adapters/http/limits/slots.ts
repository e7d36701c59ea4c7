import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { RostrumError } from '../../../domain/errors.ts';
import { clientOf } from '../client-address.ts';
import { type Context, RequestAborted } from '../context.ts';
import { accepted } from '../server/connections.ts';

/** In bytes. A larger response counts until its client has read it. */
const smallResponse = 64 * 1024;

export const slotLimits = {
  /** Requests in progress or waiting; one more is a 503. */
  total: 2000,
  /** Of these, how many of one client can wait for a slot of one class. All classes together have fewer than the total. */
  waitingPerClient: 300,
  /** One more gets its 503 after this time, or up to twice as much, so that retries are slow. */
  rejectMs: 2000,
  /** How long a request waits for a slot. */
  waitMs: 10_000,
  /** The slots of each class. With 4 slots for short lists, a page of 20 takes 1.4 times the processor time. */
  lists: 4,
  shortLists: 16,
  parsers: 4,
  bodies: 64,
  /** Reads of one record. With more, 1 MiB each from MongoDB delay others by over half a second. */
  reads: 32,
  /** Writes with a small body. With more, changes of large records delay others. */
  writes: 32,
  /**
   * In milliseconds of an iteration of the event loop. A read's size is unknown until it is done, so a class stops
   * starting requests after this much of one iteration.
   */
  iterationMs: 20,
  /** Large responses of one class that clients are reading. From half of them, clients that stall are disconnected. */
  unread: 24,
  stallMs: 1000,
};

/** Created once, because capturing the stack costs more than the rest of a rejection. */
export const overloaded = new RostrumError('overloaded', {});

/** Releases what a request has reserved: at its end, or earlier for a request that only waits. */
export function releaseSlots({ state: { rostrum } }: Context): void {
  for (const release of rostrum.releases.splice(0)) release();
}

/** For how many iterations of the event loop waiting requests let new connections go first. */
const maxSkipped = 32;

/** Large bodies that clients are sending, or large responses that they are reading. */
export class Transfers extends Map<ServerResponse, { socket: Socket; timeout: number }> {
  add({ res, req: { socket } }: Context): void {
    this.set(res, { socket, timeout: socket.timeout ?? 0 });
  }

  remove(res: ServerResponse): void {
    const { socket, timeout = 0 } = this.get(res) ?? {};
    // After a complete response, Node has set its idle timeout instead.
    if (socket?.timeout === slotLimits.stallMs) socket.setTimeout(timeout);
    this.delete(res);
  }

  /** From now on, closes the connections of clients that stall. Progress within one large write counts, too. */
  closeStalled(): void {
    for (const { socket } of this.values()) {
      // A mocked socket has no such method.
      if (socket.timeout !== slotLimits.stallMs) socket.setTimeout?.(slotLimits.stallMs);
    }
  }
}

/**
 * The slots of one class of requests. Clients take turns; the requests of one client keep their order. A slot is free
 * again in the next iteration of the event loop, so that an iteration starts no more requests than there are slots.
 */
export class Slots {
  waiting = 0;
  /** Running requests that hold a slot. */
  #running = 0;
  readonly #capacity: number;
  readonly #readers = new Transfers();
  readonly #queues = new Map<string, Set<() => void>>();
  /** Slots to free in the next iteration. */
  #ended = 0;
  #isScheduled = false;
  /** When this class began to work in this iteration. */
  #since = 0;
  /** How many waiting requests an iteration starts: one after a long iteration, and twice as many after a short one. */
  #atOnce = 1;
  /** The number of accepted connections in the last iteration that could start requests. */
  #accepted = 0;
  /** How many iterations in a row have started no requests because of a new connection. */
  #skipped = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** While clients read large responses, running requests count against `unread`, too: each may become one. */
  get #isFree(): boolean {
    const { size } = this.#readers;
    if (size >= slotLimits.unread / 2) this.#readers.closeStalled();
    const hasRoom = size === 0 || size + this.#running < slotLimits.unread;
    return this.#running < this.#capacity && hasRoom;
  }

  /** True once this class has used its time in this iteration. */
  get #isLong(): boolean {
    return performance.now() - this.#since > slotLimits.iterationMs;
  }

  /** Takes a slot until the request ends: 503 after a wait. */
  take(ctx: Context): Promise<void> | undefined {
    const occupy = () => {
      this.#running += 1;
      ctx.state.rostrum.releases.push(() => {
        this.#ended += 1;
        this.#schedule();
      });
    };
    this.#schedule();
    if (this.waiting > 0 || !this.#isFree || this.#isLong) return this.#wait(ctx, occupy);
    occupy();
    return undefined;
  }

  /** Frees slots and starts waiting requests in the next iteration. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#since = performance.now();
    setImmediate(this.#startNext);
  }

  /**
   * Starts no requests in an iteration that brings a new connection: Node accepts one per iteration, so that others can
   * connect only if iterations are short.
   */
  readonly #startNext = (): void => {
    this.#isScheduled = false;
    if (this.#isLong) this.#atOnce = 1;
    const isConnecting = accepted > this.#accepted;
    this.#accepted = accepted;
    if (isConnecting && this.#skipped < maxSkipped) {
      this.#skipped += 1;
      this.#schedule();
      return;
    }
    this.#skipped = 0;
    if (!this.#isLong) this.#atOnce = Math.min(2 * this.#atOnce, slotLimits.total);
    this.#running -= this.#ended;
    this.#ended = 0;
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
  countUntilRead(ctx: Context): void {
    const { res, response, method } = ctx;
    if ((response.length ?? 0) <= smallResponse || method === 'HEAD' || res.destroyed) return;
    this.#readers.add(ctx);
    res.once('close', () => {
      this.#readers.remove(res);
      this.#schedule();
    });
  }

  async #wait(ctx: Context, occupy: () => void): Promise<void> {
    const client = clientOf(ctx);
    const queue = this.#queues.get(client) ?? new Set();
    if (queue.size >= slotLimits.waitingPerClient) {
      // A client that retries at once would take as much time as requests that are served. While it waits for its
      // 503, it doesn't count.
      releaseSlots(ctx);
      const ms = slotLimits.rejectMs * (1 + Math.random()); // Spread, so that they don't end at once.
      await new Promise((resolve) => setTimeout(resolve, ms));
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
    try {
      await promise;
    } finally {
      this.waiting -= 1;
      clearTimeout(timer);
      ctx.res.off('close', onClose);
    }
  }
}
