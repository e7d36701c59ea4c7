import type { Socket } from 'node:net';
import { RostrumError } from '../../domain/errors.ts';
import { acceptedAt, type Context, RequestAborted, type Step } from './context.ts';

/** How many lists of one operation run at a time. */
export const maxLists = 4;

/** In bytes: a body up to `smallBody` is read without a reservation, and one above `largeBody` is parsed alone. */
export const smallBody = 16 * 1024;
const largeBody = 256 * 1024;

/** A larger response counts until its client has taken it. */
const smallResponse = 64 * 1024;

/** What the limiter allows. `test/faults/http-pressure.ts` fails without each of these limits. */
const limits = {
  /** Requests of one queue, and of all, under way or waiting; one more is a 503. */
  perQueue: 256,
  total: 2000,
  /** Bodies of more than `smallBody` that are read or used at a time; those of them that are parsed. */
  bodies: 64,
  parsedBodies: 4,
  /** Large responses that clients have not read completely: per operation, and in total. */
  unread: 48,
  unreadTotal: 96,
  /** Milliseconds that a request waits; after that it is a 503. */
  waitMs: 10_000,
  /** How long a client can stall while others wait for its slot, in milliseconds. */
  stallMs: 1000,
  /** Time budget per event-loop turn for starting requests, and how many waiting ones can start in it. */
  turnMs: 10,
  perTurn: 256,
};

/**
 * After a turn of more than `turnMs`, nothing starts for an eighth of its duration, at most `maxMs`: Node accepts
 * one connection per turn, so other clients need short turns. After a turn of more than `connectingMs`, nothing
 * starts while each turn brings a new client, for at most `connectingTurns`.
 */
const pause = { turnMs: 20, part: 8, maxMs: 25, connectingMs: 2, connectingTurns: 100 };

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

/** How many requests with one key can run at a time. */
export interface Slot {
  readonly key: string;
  readonly capacity: number;
}

/** A request that waits. */
interface Waiting {
  canStart(): boolean;
  start(): void;
}

/** Requests of one kind, and their large responses. */
class Queue {
  /** How many requests can run or wait. */
  capacity = limits.perQueue;
  readonly waiting = new Set<Waiting>();
  readonly unread = new PendingClients();
  running = 0;
  /** How long its requests have held the event loop, in milliseconds. */
  usedMs = 0;
  /** True if all requests need the same slot: if the first one cannot start, no other one can. */
  sharesSlot = false;

  get isFull(): boolean {
    return this.waiting.size + this.running >= this.capacity;
  }
}

/** Sockets that wait for their clients to send a body or read a response. */
class PendingClients {
  /** Each with the timeout that it had before {@link closeStalled}, if that was called. */
  readonly #sockets = new Map<Socket, number | undefined>();

  get size(): number {
    return this.#sockets.size;
  }

  add(socket: Socket): void {
    this.#sockets.set(socket, undefined);
  }

  /** Returns true if the connection was closed because the client stalled. */
  delete(socket: Socket): boolean {
    const timeout = this.#sockets.get(socket);
    this.#sockets.delete(socket);
    if (timeout === undefined) return false;
    if (!socket.destroyed) socket.setTimeout(timeout);
    return socket.destroyed;
  }

  /** Closes the connections that stall from now on. Node sees the progress of a single large write. */
  closeStalled(): void {
    for (const [socket, timeout] of this.#sockets) {
      if (timeout !== undefined) continue;
      this.#sockets.set(socket, socket.timeout ?? 0);
      socket.setTimeout?.(limits.stallMs);
    }
  }
}

/**
 * Limits the work under way, so that clients with large or slow requests do not keep others waiting. Each
 * operation has a queue, and the queues share the time of the event loop. docs/operations.md lists the limits.
 */
export class Limiter {
  readonly #queues = new Map<string, Queue>();
  /** Queues with waiting requests. */
  readonly #waitingQueues = new Set<Queue>();
  /** The queue of the request that started last, and when that was. */
  #last: Queue | undefined;
  #lastStart = 0;
  /** The `usedMs` of the queue served last. A queue that was empty starts from here: idling earns no priority. */
  #usedMs = 0;
  /** How many requests hold a slot, by its key. */
  readonly #slots = new Map<string, number>();
  /** Clients that are sending a large body. */
  readonly #senders = new PendingClients();
  #running = 0;
  #waiting = 0;
  #unread = 0;
  #closed = 0;
  /** When the first request of this turn started; undefined if none has. */
  #turnStart: number | undefined;
  /** Pending immediates, each of which will start a waiting request. */
  #scheduled = 0;
  #canGoOn = false;
  #isPausing = false;
  /** True if a new client has sent its first request since the last turn ended. */
  #hasNewClients = false;

  get state(): LimiterState {
    return { running: this.#running, waiting: this.#waiting, closed: this.#closed };
  }

  /**
   * Refuses a request before its body is read if there is no room: 503. A client that is still sending a small body
   * takes no room; otherwise, many slow clients would keep out all others.
   *
   * @param capacity how many requests of the operation can run or wait
   */
  admit(operation: string, capacity = limits.perQueue): Step {
    const queue = this.#queue(operation);
    queue.capacity = capacity;
    return async ({ req: { socket }, state: { rostrum } }, next) => {
      if (isNew(socket)) this.#hasNewClients = true;
      this.#checkRoom(queue);
      const { admission } = rostrum;
      admission.onEnd(() => this.#schedule());
      try {
        await next();
      } finally {
        admission.end();
      }
    };
  }

  /** Reserves a slot for a body of more than {@link smallBody} while it is read and used: 503 after a wait. */
  async reserveBody(ctx: Context): Promise<void> {
    const slot = { key: 'bodies', capacity: limits.bodies };
    const canStart = () => {
      const isFree = this.#isFree(slot);
      if (!isFree) this.#senders.closeStalled();
      return isFree;
    };
    await this.#start(ctx, this.#queue(slot.key, slot), canStart, () => this.#take(ctx, slot));
    this.#senders.add(ctx.req.socket);
    ctx.state.rostrum.admission.onEnd(() => this.bodyArrived(ctx));
  }

  /** Called when the body has arrived completely. */
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
      const own = bodySlot(ctx);
      const canStart = () => this.#isFree(slot) && this.#isFree(own) && this.#mayRespond(queue);
      const waits = this.#start(ctx, queue, canStart, () => {
        queue.running += 1;
        this.#running += 1;
        this.#take(ctx, slot);
        this.#take(ctx, own);
        ctx.state.rostrum.admission.onEnd(() => {
          queue.running -= 1;
          this.#running -= 1;
        });
      });
      if (waits !== undefined) await waits;
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

  #checkRoom(queue: Queue): void {
    if (queue.isFull || this.#running + this.#waiting >= limits.total) throw overloaded;
  }

  #isFree(slot: Slot | undefined): boolean {
    return slot === undefined || (this.#slots.get(slot.key) ?? 0) < slot.capacity;
  }

  #take({ state: { rostrum } }: Context, slot: Slot | undefined): void {
    if (slot === undefined) return;
    const { key } = slot;
    this.#slots.set(key, (this.#slots.get(key) ?? 0) + 1);
    rostrum.admission.onEnd(() => {
      const count = (this.#slots.get(key) ?? 1) - 1;
      if (count > 0) this.#slots.set(key, count);
      else this.#slots.delete(key);
    });
  }

  /** Once a queue has large responses, its running requests count as large ones too. */
  #mayRespond({ unread, running }: Queue): boolean {
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
      this.#schedule();
    });
  }

  /** Starts at once if nothing else waits and the turn has time; otherwise waits. */
  #start(
    ctx: Context,
    queue: Queue,
    canStart: () => boolean,
    start: () => void,
  ): Promise<void> | undefined {
    this.#checkRoom(queue);
    if (this.#waiting > 0 || !this.#hasTime() || !canStart()) {
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
    this.#schedule();
    const since = performance.now();
    const refuse = (error: Error) => {
      if (this.#remove(queue, waiting)) reject(error);
    };
    const timer = setTimeout(refuse, limits.waitMs, overloaded);
    const leave = () => refuse(new RequestAborted());
    ctx.res.once('close', leave);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      ctx.res.off('close', leave);
    }
    // A half-closed connection usually means that the client has gone. If it has not, it gets the 503.
    const hasLeft = ctx.req.socket.readableEnded && performance.now() - since > limits.stallMs;
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

  /** One immediate for each request: it does all it can at once before the next one starts. */
  #schedule(): void {
    if (this.#waiting === 0 || this.#scheduled > 0 || this.#isPausing) return;
    this.#scheduled = Math.min(this.#waiting, limits.perTurn);
    this.#canGoOn = false;
    for (let n = 0; n < this.#scheduled; n++) setImmediate(this.#onImmediate);
  }

  readonly #onImmediate = (): void => {
    this.#charge();
    if (!this.#hasTime() || this.#startNext()) this.#canGoOn = true;
    this.#scheduled -= 1;
    if (this.#scheduled === 0) this.#endTurn();
  };

  #hasTime(): boolean {
    if (this.#isPausing) return false;
    const now = performance.now();
    if (this.#turnStart === undefined) {
      this.#turnStart = now;
      if (this.#scheduled === 0) setImmediate(this.#onTurnEnd);
    }
    return now - this.#turnStart < limits.turnMs;
  }

  readonly #onTurnEnd = (): void => {
    if (this.#scheduled === 0) this.#endTurn();
  };

  #endTurn(): void {
    this.#charge();
    const now = performance.now();
    const heldMs = now - (this.#turnStart ?? now);
    this.#turnStart = undefined;
    if (heldMs <= pause.connectingMs) {
      if (this.#canGoOn) this.#schedule();
      return;
    }
    this.#isPausing = true;
    if (heldMs <= pause.turnMs) this.#letClientsConnect(pause.connectingTurns);
    else
      setTimeout(
        this.#letClientsConnect,
        Math.min(heldMs / pause.part, pause.maxMs),
        pause.connectingTurns,
      );
  }

  readonly #letClientsConnect = (turns: number): void => {
    const isConnecting = this.#hasNewClients && turns > 0;
    this.#hasNewClients = false;
    if (isConnecting) {
      setImmediate(this.#letClientsConnect, turns - 1);
      return;
    }
    this.#isPausing = false;
    this.#schedule();
  };
}

/** True before the first response on a connection that was accepted within the last second. */
function isNew(socket: Socket): boolean {
  const { [acceptedAt]: since } = socket as { readonly [acceptedAt]?: number };
  return since !== undefined && socket.bytesWritten === 0 && performance.now() - since < 1000;
}

/** Parsed, a body can take a hundred times its size in memory. */
function bodySlot({ request: { rawBody: body } }: Context): Slot | undefined {
  if (!Buffer.isBuffer(body) || body.length <= smallBody) return undefined;
  return body.length > largeBody
    ? { key: 'largest body', capacity: 1 }
    : { key: 'large body', capacity: limits.parsedBodies };
}
