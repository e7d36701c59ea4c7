import { RostrumError } from '../../../domain/errors.ts';
import { type Context, RequestAborted, type Step } from '../context.ts';
import { PendingClients, stallMs } from './pending-clients.ts';
import { Scheduler } from './scheduler.ts';
import { KeyedSemaphore, type Slot } from './semaphore.ts';

/** How many lists of one queue run at a time: those of one operation whose `limit` has the same number of digits. */
export const maxLists = 4;

/**
 * In bytes: a body up to `smallBody` is read without a reservation if it has few chunks, and of those above
 * `largeBody`, one is parsed at a time.
 */
export const smallBody = 16 * 1024;
const largeBody = 256 * 1024;

/** A larger response counts until its client has taken it. */
const smallResponse = 64 * 1024;

/** What the limiter allows. `test/faults/http-pressure.ts` fails without each of these limits. */
const limits = {
  /**
   * Requests of one queue, and of all, in progress or waiting; one more is a 503. Besides these, `total` rejections
   * can wait.
   */
  perQueue: 256,
  total: 2000,
  /** Bodies of more than `smallBody` that are read or used at a time. */
  bodies: 64,
  /** Of these, the bodies up to `largeBody` that are parsed at a time, and the larger ones. */
  parsedBodies: 4,
  parsedLargeBodies: 1,
  /** Large responses that clients have not read completely: per queue, and in total. */
  unread: 48,
  unreadTotal: 96,
  /** Milliseconds that a request waits; after that it is a 503. */
  waitMs: 10_000,
};

/** Created once, because capturing the stack costs more than the rest of a rejection. */
const overloaded = new RostrumError('overloaded', {});

/** What metrics show of a limiter. */
export interface LimiterState {
  /** Requests that are being served. */
  readonly running: number;
  readonly waiting: number;
  /** Connections closed because their clients stalled while others waited. */
  readonly closed: number;
}

/** A request that waits. */
interface Waiting {
  canStart(): boolean;
  start(): void;
}

/** Requests of one kind, and their large responses. */
class Queue {
  /** How many requests can run or wait. */
  capacity: number;
  readonly waiting = new Set<Waiting>();
  readonly unread = new PendingClients();
  running = 0;
  /** How long its requests have held the event loop, in milliseconds. */
  usedMs = 0;
  /** True if all requests need the same slot: if the first one cannot start, no other one can. */
  sharesSlot = false;

  constructor(capacity = limits.perQueue) {
    this.capacity = capacity;
  }

  get isFull(): boolean {
    return this.waiting.size + this.running >= this.capacity;
  }
}

/**
 * Limits the work in progress, so that clients with large or slow requests do not keep others waiting. Each
 * operation has a queue; a list has four, by the digits of `limit`, and all pages share one. The queues share the time
 * of the event loop. docs/operations.md lists the limits.
 */
export class LoadLimiter {
  readonly #queues = new Map<string, Queue>();
  /** Requests that will be rejected. */
  readonly #rejections = new Queue(limits.total);
  readonly #slots = new KeyedSemaphore();
  readonly #scheduler = new Scheduler({
    count: () => this.#waiting,
    startNext: () => this.#startNext(),
    charge: () => this.#charge(),
  });
  /** Queues with waiting requests. */
  readonly #waitingQueues = new Set<Queue>();
  /** The queue of the request that started last, and when that was. */
  #last: Queue | undefined;
  #lastStart = 0;
  /** The `usedMs` of the queue served last. A queue that was empty starts from here: idling earns no priority. */
  #usedMs = 0;
  /** Clients that are sending a large body. */
  readonly #senders = new PendingClients();
  #running = 0;
  #waiting = 0;
  #unread = 0;
  #closed = 0;

  get state(): LimiterState {
    return { running: this.#running, waiting: this.#waiting, closed: this.#closed };
  }

  /**
   * Rejects a request before its body is read if the queue is full: 503. A client that is still sending a small
   * body does not count yet; otherwise, many slow clients would keep out all others.
   *
   * @param capacity as in `Endpoint`
   */
  admit(operation: string, capacity?: number): Step {
    const queue = this.#queue(operation);
    queue.capacity = capacity ?? queue.capacity;
    return async (ctx, next) => {
      this.#scheduler.arrived(ctx.req.socket);
      if (this.#isFull(queue)) await this.#reject(ctx);
      const { reservations } = ctx.state.rostrum;
      reservations.add(() => this.#scheduler.schedule());
      try {
        await next();
      } finally {
        reservations.release();
      }
    };
  }

  /** Reserves a slot for a body of more than {@link smallBody} while it is read and used: 503 after a wait. */
  async reserveBody(ctx: Context): Promise<void> {
    const slot = { key: 'bodies', capacity: limits.bodies };
    const canStart = () => {
      const isFree = this.#slots.isFree(slot);
      if (!isFree) this.#senders.closeStalled();
      return isFree;
    };
    const { reservations } = ctx.state.rostrum;
    await this.#start(ctx, this.#queue(slot.key, slot), canStart, () =>
      reservations.add(this.#slots.take(slot)),
    );
    this.#senders.add(ctx.req.socket);
    reservations.add(() => this.bodyArrived(ctx));
  }

  /** Stops watching the sender: the body has arrived, or the request has ended. */
  bodyArrived({ req: { socket } }: Context): void {
    if (this.#senders.delete(socket)) this.#closed += 1;
  }

  /**
   * Runs the rest of a request when its slots are free and the event loop has time: 503 after a wait.
   *
   * @param queueOf the name of the queue, and the slot that the request needs
   */
  run(queueOf: (ctx: Context) => { readonly name: string; readonly slot?: Slot }): Step {
    return async (ctx, next) => {
      const { name, slot } = queueOf(ctx);
      const queue = this.#queue(name, slot);
      const slots = [slot, bodySlot(ctx)].filter((needed) => needed !== undefined);
      const canStart = () =>
        slots.every((one) => this.#slots.isFree(one)) && this.#canRespond(queue);
      const wait = this.#start(ctx, queue, canStart, () => {
        const { reservations } = ctx.state.rostrum;
        queue.running += 1;
        this.#running += 1;
        for (const one of slots) reservations.add(this.#slots.take(one));
        reservations.add(() => {
          queue.running -= 1;
          this.#running -= 1;
        });
      });
      if (wait !== undefined) await wait;
      if (ctx.res.destroyed || ctx.req.socket.destroyed) throw new RequestAborted();
      await next();
      this.#watchResponse(ctx, queue);
    };
  }

  #queue(name: string, slot?: Slot): Queue {
    const queue = this.#queues.get(name) ?? new Queue();
    this.#queues.set(name, queue);
    queue.sharesSlot = slot?.key === name;
    return queue;
  }

  /** Rejections don't count in the total, because they would take the place of other operations' requests. */
  #isFull(queue: Queue): boolean {
    const inProgress = this.#running + this.#waiting - this.#rejections.waiting.size;
    return queue.isFull || inProgress >= limits.total;
  }

  /**
   * Rejections have a queue of their own, because each takes as long as a small request: otherwise, clients that
   * retry at once would keep others waiting. If that queue is full, rejects at once.
   */
  async #reject(ctx: Context): Promise<never> {
    ctx.state.rostrum.reservations.release();
    if (!this.#rejections.isFull) {
      const always = () => true;
      await this.#wait(ctx, this.#rejections, always, () => {});
    }
    throw overloaded;
  }

  /** Once a queue has large responses, its running requests count as large ones too. */
  #canRespond({ unread, running }: Queue): boolean {
    if (unread.size === 0) return true;
    if (unread.size + running < limits.unread && this.#unread < limits.unreadTotal) return true;
    unread.closeStalled();
    return false;
  }

  #watchResponse({ req: { socket }, res, response, method }: Context, { unread }: Queue): void {
    if ((response.length ?? 0) <= smallResponse || method === 'HEAD' || res.destroyed) return;
    unread.add(socket);
    this.#unread += 1;
    res.once('close', () => {
      if (unread.delete(socket)) this.#closed += 1;
      this.#unread -= 1;
      this.#scheduler.schedule();
    });
  }

  /** Starts at once if nothing else waits and the event loop has time; otherwise waits. Rejects if the queue is full. */
  #start(
    ctx: Context,
    queue: Queue,
    canStart: () => boolean,
    start: () => void,
  ): Promise<void> | undefined {
    if (this.#isFull(queue)) return this.#reject(ctx);
    if (this.#waiting > 0 || !this.#scheduler.hasTime() || !canStart()) {
      return this.#wait(ctx, queue, canStart, start);
    }
    this.#charge(queue);
    start();
    return undefined;
  }

  async #wait(ctx: Context, queue: Queue, canStart: () => boolean, start: () => void) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = {
      canStart,
      start: () => {
        start();
        resolve();
      },
    };
    if (queue.waiting.size === 0) queue.usedMs = Math.max(queue.usedMs, this.#usedMs);
    queue.waiting.add(waiting);
    this.#waitingQueues.add(queue);
    this.#waiting += 1;
    this.#scheduler.schedule();
    const since = performance.now();
    const fail = (error: Error) => {
      if (this.#remove(queue, waiting)) reject(error);
    };
    const timer = setTimeout(fail, limits.waitMs, overloaded);
    const onClose = () => fail(new RequestAborted());
    ctx.res.once('close', onClose);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      ctx.res.off('close', onClose);
    }
    // A half-closed connection usually means that the client has gone. If it has not, it gets the 503.
    const hasLeft = ctx.req.socket.readableEnded && performance.now() - since > stallMs;
    if (hasLeft) throw overloaded;
  }

  #remove(queue: Queue, waiting: Waiting): boolean {
    if (!queue.waiting.delete(waiting)) return false;
    this.#waiting -= 1;
    if (queue.waiting.size === 0) this.#waitingQueues.delete(queue);
    return true;
  }

  /** Starts the first waiting request that can start, of the queue that has used the least time. */
  #startNext(): boolean {
    for (const queue of [...this.#waitingQueues].sort((a, b) => a.usedMs - b.usedMs)) {
      for (const waiting of queue.waiting) {
        if (!waiting.canStart()) {
          if (queue.sharesSlot) break;
          continue;
        }
        this.#usedMs = queue.usedMs;
        this.#charge(queue);
        this.#remove(queue, waiting);
        waiting.start();
        return true;
      }
    }
    return false;
  }

  /** Charges the time since the last request started to its queue. */
  #charge(next?: Queue): void {
    const now = performance.now();
    if (this.#last !== undefined) this.#last.usedMs += now - this.#lastStart;
    this.#last = next;
    this.#lastStart = now;
  }
}

/** Parsed, a body can take a hundred times its size in memory. */
function bodySlot({ request: { rawBody: body } }: Context): Slot | undefined {
  if (!Buffer.isBuffer(body) || body.length <= smallBody) return undefined;
  return body.length > largeBody
    ? { key: 'large body', capacity: limits.parsedLargeBodies }
    : { key: 'medium body', capacity: limits.parsedBodies };
}
