import type { Socket } from 'node:net';
import { RostrumError } from '../../domain/errors.ts';
import { acceptedAt, type Context, RequestAborted, type Step } from './context.ts';

/** Bytes of a body that is read without a reservation, and of one that is not parsed alone. */
export const smallBody = 16 * 1024;
const largeBody = 256 * 1024;

/** A larger response counts until its client has taken it. */
const smallResponse = 64 * 1024;

/** What the limiter allows. `test/faults/http-pressure.ts` fails without each of these limits. */
const most = {
  /** Requests of one queue, and of all, under way or waiting; one more is a 503. */
  ofQueue: 1000,
  ofAll: 2000,
  /** Lists of one operation at a time. */
  lists: 4,
  /** Bodies of more than `smallBody` that are read or used at a time; those of them that are parsed. */
  bodies: 64,
  parsedBodies: 4,
  /** Large responses that clients have not read completely: per operation, and in total. */
  untaken: 48,
  untakenOfAll: 96,
  /** Milliseconds that a request waits; after that it is a 503. */
  waitMs: 10_000,
  /** How long a client can stall while others wait for its slot, in milliseconds. */
  standstillMs: 1000,
  /** Time budget per event-loop turn for starting requests, and how many waiting ones can start in it. */
  turnMs: 10,
  perTurn: 64,
};

/**
 * After a turn of more than `turnMs`, nothing starts for an eighth of its duration, at most `mostMs`: Node accepts
 * one connection per turn, so other clients need short turns. After a turn of more than `connectingMs`, nothing
 * starts while each turn brings a new client, for at most `connectingTurns`.
 */
const rest = { turnMs: 20, part: 8, mostMs: 25, connectingMs: 2, connectingTurns: 100 };

/** Created once, because capturing the stack costs more than the rest of a rejection. */
const overloaded = new RostrumError('overloaded', {});

/** What metrics show of a limiter. */
export interface LimiterState {
  /** Requests that are being served. */
  readonly running: number;
  readonly waiting: number;
  /** Connections closed because their clients stood still while others waited. */
  readonly closed: number;
}

/** How many requests with one key can run at a time. */
export interface Slot {
  readonly key: string;
  readonly most: number;
}

/** A request that waits. */
interface Waiting {
  canBegin(): boolean;
  begin(): void;
}

/** Requests of one kind, and their large responses. */
class Queue {
  readonly waiting = new Set<Waiting>();
  readonly untaken = new ClientTurns();
  running = 0;
  /** True if all requests need the same slot: if the first one cannot begin, no other one can. */
  sharesSlot = false;

  get isFull(): boolean {
    return this.waiting.size + this.running >= most.ofQueue;
  }
}

/** Sockets that wait for their clients to send a body or read a response. */
class ClientTurns {
  /** Each with its time-out from before {@link hurry}, if that was called. */
  readonly #sockets = new Map<Socket, number | undefined>();

  get size(): number {
    return this.#sockets.size;
  }

  add(socket: Socket): void {
    this.#sockets.set(socket, undefined);
  }

  /** Returns true if the connection was closed because the client stood still. */
  delete(socket: Socket): boolean {
    const timeout = this.#sockets.get(socket);
    this.#sockets.delete(socket);
    if (timeout === undefined) return false;
    if (!socket.destroyed) socket.setTimeout(timeout);
    return socket.destroyed;
  }

  /** Closes the connections that stand still from now on. Node sees the progress of a single large write. */
  hurry(): void {
    for (const [socket, timeout] of this.#sockets) {
      if (timeout !== undefined) continue;
      this.#sockets.set(socket, socket.timeout ?? 0);
      socket.setTimeout?.(most.standstillMs);
    }
  }
}

/**
 * Limits the work under way, so that clients with large or slow requests do not keep others waiting. Each
 * operation has a queue, and the queues take turns. docs/operations.md lists the limits.
 */
export class Limiter {
  readonly #queues = new Map<string, Queue>();
  /** Queues with waiting requests, in the order of their turns. */
  readonly #turns = new Set<Queue>();
  /** How many requests hold a slot, by its key. */
  readonly #slots = new Map<string, number>();
  /** Clients that are sending a large body. */
  readonly #senders = new ClientTurns();
  #inside = 0;
  #waiting = 0;
  #untaken = 0;
  #closed = 0;
  /** When the first request of this turn began; undefined if none has. */
  #turnBegan: number | undefined;
  /** Immediates that will begin a waiting request. */
  #scheduled = 0;
  #canGoOn = false;
  #isResting = false;
  /** True if a new client has sent its first request since the last turn ended. */
  #hasNewClients = false;

  get state(): LimiterState {
    const waiting = this.#waiting;
    return { running: this.#inside - waiting, waiting, closed: this.#closed };
  }

  /** Counts a request until its handler is done, or refuses it before its body is read: 503. */
  admit(operation: string): Step {
    const queue = this.#queue(operation);
    return async ({ req: { socket }, state: { rostrum } }, next) => {
      if (isNew(socket)) this.#hasNewClients = true;
      if (queue.isFull || this.#inside >= most.ofAll) throw overloaded;
      this.#inside += 1;
      const { admission } = rostrum;
      admission.onEnd(() => {
        this.#inside -= 1;
        this.#schedule();
      });
      try {
        await next();
      } finally {
        admission.end();
      }
    };
  }

  /** Reserves a slot for a body of more than {@link smallBody} while it is read and used: 503 after a wait. */
  async reserveBody(ctx: Context): Promise<void> {
    const slot = { key: 'bodies', most: most.bodies };
    const canBegin = () => {
      const isFree = this.#isFree(slot);
      if (!isFree) this.#senders.hurry();
      return isFree;
    };
    await this.#begin(ctx, this.#queue(slot.key, slot), canBegin, () => this.#take(ctx, slot));
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
      const canBegin = () => this.#isFree(slot) && this.#isFree(own) && this.#mayRespond(queue);
      const waits = this.#begin(ctx, queue, canBegin, () => {
        queue.running += 1;
        ctx.state.rostrum.admission.onEnd(() => (queue.running -= 1));
        this.#take(ctx, slot);
        this.#take(ctx, own);
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

  #isFree(slot: Slot | undefined): boolean {
    return slot === undefined || (this.#slots.get(slot.key) ?? 0) < slot.most;
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
  #mayRespond({ untaken, running }: Queue): boolean {
    if (untaken.size === 0) return true;
    if (untaken.size + running < most.untaken && this.#untaken < most.untakenOfAll) return true;
    untaken.hurry();
    return false;
  }

  #watchResponse({ req: { socket }, res, response, method }: Context, { untaken }: Queue): void {
    if ((response.length ?? 0) <= smallResponse || method === 'HEAD' || res.destroyed) return;
    untaken.add(socket);
    this.#untaken += 1;
    res.once('close', () => {
      if (untaken.delete(socket)) this.#closed += 1;
      this.#untaken -= 1;
      this.#schedule();
    });
  }

  /** Begins at once if nothing else waits and the turn has time; else waits. */
  #begin(
    ctx: Context,
    queue: Queue,
    canBegin: () => boolean,
    begin: () => void,
  ): Promise<void> | undefined {
    if (queue.isFull) throw overloaded;
    if (this.#waiting > 0 || !this.#hasTime() || !canBegin()) {
      return this.#wait(ctx, queue, canBegin, begin);
    }
    begin();
    return undefined;
  }

  async #wait(ctx: Context, queue: Queue, canBegin: () => boolean, begin: () => void) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = {
      canBegin,
      begin: () => {
        begin();
        resolve();
      },
    };
    queue.waiting.add(waiting);
    this.#turns.add(queue);
    this.#waiting += 1;
    this.#schedule();
    const since = performance.now();
    const refuse = (error: Error) => {
      if (this.#remove(queue, waiting)) reject(error);
    };
    const timer = setTimeout(refuse, most.waitMs, overloaded);
    const leave = () => refuse(new RequestAborted());
    ctx.res.once('close', leave);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      ctx.res.off('close', leave);
    }
    // A half-closed connection usually means that the client has gone. If it has not, it gets the 503.
    const hasLeft = ctx.req.socket.readableEnded && performance.now() - since > most.standstillMs;
    if (hasLeft) throw overloaded;
  }

  #remove(queue: Queue, waiting: Waiting): boolean {
    if (!queue.waiting.delete(waiting)) return false;
    this.#waiting -= 1;
    if (queue.waiting.size === 0) this.#turns.delete(queue);
    return true;
  }

  /** Begins one request of the first queue that has one which can, and puts that queue last. */
  #beginNext(): boolean {
    for (const queue of this.#turns) {
      for (const waiting of queue.waiting) {
        if (!waiting.canBegin()) {
          if (queue.sharesSlot) break;
          continue;
        }
        this.#turns.delete(queue);
        this.#turns.add(queue);
        this.#remove(queue, waiting);
        waiting.begin();
        return true;
      }
    }
    return false;
  }

  /** One immediate for each request: it does all it can at once before the next one begins. */
  #schedule(): void {
    if (this.#waiting === 0 || this.#scheduled > 0 || this.#isResting) return;
    this.#scheduled = Math.min(this.#waiting, most.perTurn);
    this.#canGoOn = false;
    for (let n = 0; n < this.#scheduled; n++) setImmediate(this.#onImmediate);
  }

  readonly #onImmediate = (): void => {
    if (!this.#hasTime() || this.#beginNext()) this.#canGoOn = true;
    this.#scheduled -= 1;
    if (this.#scheduled === 0) this.#endTurn();
  };

  #hasTime(): boolean {
    if (this.#isResting) return false;
    const now = performance.now();
    if (this.#turnBegan === undefined) {
      this.#turnBegan = now;
      if (this.#scheduled === 0) setImmediate(this.#onTurnEnd);
    }
    return now - this.#turnBegan < most.turnMs;
  }

  readonly #onTurnEnd = (): void => {
    if (this.#scheduled === 0) this.#endTurn();
  };

  #endTurn(): void {
    const now = performance.now();
    const heldMs = now - (this.#turnBegan ?? now);
    this.#turnBegan = undefined;
    if (heldMs <= rest.connectingMs) {
      if (this.#canGoOn) this.#schedule();
      return;
    }
    this.#isResting = true;
    if (heldMs <= rest.turnMs) this.#letConnect(rest.connectingTurns);
    else
      setTimeout(this.#letConnect, Math.min(heldMs / rest.part, rest.mostMs), rest.connectingTurns);
  }

  readonly #letConnect = (turns: number): void => {
    const isConnecting = this.#hasNewClients && turns > 0;
    this.#hasNewClients = false;
    if (isConnecting) {
      setImmediate(this.#letConnect, turns - 1);
      return;
    }
    this.#isResting = false;
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
    ? { key: 'largest body', most: 1 }
    : { key: 'large body', most: most.parsedBodies };
}
