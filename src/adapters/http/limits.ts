import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { RostrumError } from '../../domain/errors.ts';
import { rateLimitKey } from './access/rate-limit.ts';
import { accepted } from './connections.ts';
import { type Context, type Middleware, namedCaller, RequestAborted } from './context.ts';

/** In bytes. A larger body needs a slot to be read, and another one to be used. */
export const smallBody = 16 * 1024;

/** In bytes. A larger response counts until its client has read it. */
const smallResponse = 64 * 1024;

/** A list with a `limit` of at most this has slots of its own, so that larger pages don't delay it. */
const shortList = 20;

const limits = {
  /** Requests in progress or waiting; one more is a 503. */
  total: 1000,
  /** Of these, how many of one client can wait for a slot of one class, and for how many milliseconds. */
  waitingPerClient: 100,
  /** The same for requests of which most are small and end soon. */
  otherWaitingPerClient: 500,
  waitMs: 10_000,
  /** How long one more request of such a client waits for its 503, at least; at most twice as long. */
  rejectMs: 2000,
  /** The slots of each class. */
  lists: 4,
  parsers: 4,
  bodies: 64,
  /**
   * After how many milliseconds of an iteration of the event loop a class starts no more requests. Whether a record is
   * large is known only once it has been read.
   */
  iterationMs: 20,
  /** Large responses of one class that clients are reading. From half of them, clients that stall are disconnected. */
  unread: 24,
  stallMs: 1000,
};

/** Created once, because capturing the stack costs more than the rest of a rejection. */
const overloaded = new RostrumError('overloaded', {});

/** What metrics show of a limiter. */
export interface LimiterState {
  /** Requests that are being served. */
  readonly running: number;
  readonly waiting: number;
}

/** The client of a request, for which it counts: the caller, else the address. */
export function clientOf(ctx: Context): string {
  return namedCaller(ctx)?.name ?? ` ${rateLimitKey(ctx.state.rostrum.address)}`;
}

/** For how many iterations of the event loop waiting requests let new connections go first. */
const maxSkipped = 32;

/** Responses of clients that are sending a large body, or reading a large response. */
class Clients extends Map<ServerResponse, { readonly socket: Socket; readonly timeout: number }> {
  add({ res, req: { socket } }: Context): void {
    this.set(res, { socket, timeout: socket.timeout ?? 0 });
  }

  /** From now on, closes the connections of clients that stall. Progress within one large write counts, too. */
  closeStalled(): void {
    for (const { socket } of this.values()) {
      // A mocked socket has no such method.
      if (socket.timeout !== limits.stallMs) socket.setTimeout?.(limits.stallMs);
    }
  }

  override delete(res: ServerResponse): boolean {
    const { socket, timeout = 0 } = this.get(res) ?? {};
    // After a complete response, Node has set its idle timeout instead.
    if (socket?.timeout === limits.stallMs) socket.setTimeout(timeout);
    return super.delete(res);
  }
}

/**
 * The slots of one class of requests. Clients take turns; the requests of one client keep their order. A slot is free
 * again in the next iteration of the event loop, so that an iteration starts no more requests than there are slots.
 */
class Slots {
  /** Running requests that hold a slot. */
  running = 0;
  waiting = 0;
  readonly #capacity: number;
  readonly #perClient: number;
  readonly #readers = new Clients();
  readonly #queues = new Map<string, Set<() => void>>();
  /** Slots to free in the next iteration. */
  #ended = 0;
  #isScheduled = false;
  /** When this class began to work in this iteration. */
  #since = 0;
  /** How many waiting requests an iteration starts: one after a long iteration, and twice as many after a short one. */
  #atOnce = 1;
  /** The value of `accepted` in the last iteration that could start requests, and how many have started none since. */
  #accepted = 0;
  #skipped = 0;

  constructor(capacity: number, perClient = limits.waitingPerClient) {
    this.#capacity = capacity;
    this.#perClient = perClient;
  }

  /** Once clients read large responses, running requests count as such, too. */
  get #isFree(): boolean {
    const { size } = this.#readers;
    if (size >= limits.unread / 2) this.#readers.closeStalled();
    const hasRoom = size === 0 || size + this.running < limits.unread;
    return this.running < this.#capacity && hasRoom;
  }

  /** True once a class without a limit has had its time in this iteration. The others start few requests anyway. */
  get #isLong(): boolean {
    return (
      this.#capacity === Number.POSITIVE_INFINITY &&
      performance.now() - this.#since > limits.iterationMs
    );
  }

  /** Takes a slot until the request ends: 503 after a wait. */
  take(ctx: Context): Promise<void> | undefined {
    const start = () => {
      this.running += 1;
      ctx.state.rostrum.releases.push(() => {
        this.#ended += 1;
        this.startWaiting();
      });
    };
    this.startWaiting();
    if (this.waiting > 0 || !this.#isFree || this.#isLong) return this.#wait(ctx, start);
    start();
    return undefined;
  }

  /** Frees slots and starts waiting requests in the next iteration. */
  startWaiting(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#since = performance.now();
    setImmediate(() => this.#startNext());
  }

  /**
   * Starts no requests in an iteration that brings a new connection: Node accepts one per iteration, so that others can
   * connect only if iterations are short.
   */
  #startNext(): void {
    this.#isScheduled = false;
    if (this.#isLong) this.#atOnce = 1;
    const isConnecting = accepted > this.#accepted;
    this.#accepted = accepted;
    if (isConnecting && this.#skipped < maxSkipped) {
      this.#skipped += 1;
      this.startWaiting();
      return;
    }
    this.#skipped = 0;
    if (!this.#isLong) this.#atOnce = Math.min(2 * this.#atOnce, limits.total);
    this.running -= this.#ended;
    this.#ended = 0;
    let begun = 0;
    for (const [client, queue] of this.#queues) {
      const [begin] = queue;
      if (begin === undefined || begun === this.#atOnce || !this.#isFree) break;
      begun += 1;
      queue.delete(begin);
      this.#queues.delete(client);
      if (queue.size > 0) this.#queues.set(client, queue); // It is last now.
      begin();
    }
    if (begun > 0) this.startWaiting();
  }

  /** Counts a large response until its client has read it. */
  watch(ctx: Context): void {
    const { res, response, method } = ctx;
    if ((response.length ?? 0) <= smallResponse || method === 'HEAD' || res.destroyed) return;
    this.#readers.add(ctx);
    res.once('close', () => {
      this.#readers.delete(res);
      this.startWaiting();
    });
  }

  async #wait(ctx: Context, start: () => void): Promise<void> {
    const client = clientOf(ctx);
    const queue = this.#queues.get(client) ?? new Set();
    if (queue.size >= this.#perClient) {
      // A client that retries at once would take as much time as requests that are served.
      const ms = limits.rejectMs * (1 + Math.random()); // Spread, so that they don't end at once.
      await new Promise((resolve) => setTimeout(resolve, ms));
      throw overloaded;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const begin = () => resolve(start());
    const fail = (error: Error) => {
      if (queue.delete(begin) && queue.size === 0) this.#queues.delete(client);
      reject(error);
    };
    const onClose = () => fail(new RequestAborted());
    const timer = setTimeout(fail, limits.waitMs, overloaded);
    ctx.res.once('close', onClose);
    this.#queues.set(client, queue.add(begin));
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

/**
 * Limits the work in progress, so that clients with large or slow requests don't delay others. A request takes a slot
 * of one class while it runs: `lists`, `shortLists`, `parsers` (with a large body) or `others`. Another class is for
 * large bodies, from their first byte to the end of the request.
 */
export class Limiter {
  readonly #senders = new Clients();
  readonly #bodies = new Slots(limits.bodies);
  readonly #parsers = new Slots(limits.parsers);
  readonly #lists = new Slots(limits.lists);
  readonly #shortLists = new Slots(limits.lists);
  readonly #others = new Slots(Number.POSITIVE_INFINITY, limits.otherWaitingPerClient);
  /** Requests in progress or waiting. */
  #count = 0;

  get state(): LimiterState {
    const all = [this.#bodies, this.#parsers, this.#lists, this.#shortLists, this.#others];
    const waiting = all.reduce((sum, slots) => sum + slots.waiting, 0);
    return { running: this.#count - waiting, waiting };
  }

  /** Rejects a request before its body is read: 503. It counts once it has a small body, or begins a large one. */
  readonly admit: Middleware = async (ctx, next) => {
    if (this.#count >= limits.total) throw overloaded;
    try {
      await next();
    } finally {
      releaseSlots(ctx);
    }
  };

  /** Reserves a slot for a body of more than {@link smallBody} until the request ends: 503 after a wait. */
  async reserveBody(ctx: Context): Promise<void> {
    this.#begin(ctx);
    const wait = this.#bodies.take(ctx);
    if (wait !== undefined) this.#senders.closeStalled();
    await wait;
    this.#senders.add(ctx);
    ctx.state.rostrum.releases.push(() => this.bodyArrived(ctx));
  }

  /** Stops watching the sender: the body has arrived, or the request has ended. */
  bodyArrived({ res }: Context): void {
    this.#senders.delete(res);
  }

  /** Runs the rest of a request when a slot of its class is free: 503 after a wait. */
  run(isList = false): Middleware {
    return async (ctx, next) => {
      const { req, res } = ctx;
      const body = ctx.request.rawBody as unknown;
      const isLarge = Buffer.isBuffer(body) && body.length > smallBody;
      if (!isLarge) this.#begin(ctx);
      const slots = this.#slotsOf(ctx, isList, isLarge);
      await slots?.take(ctx);
      if (res.destroyed || req.socket.destroyed) throw new RequestAborted();
      await next();
      slots?.watch(ctx);
    };
  }

  #slotsOf({ method, state }: Context, isList: boolean, isLarge: boolean): Slots | undefined {
    if (isList) {
      const limit = Number(state.rostrum.query.get('limit')?.[0]);
      return limit <= shortList ? this.#shortLists : this.#lists;
    }
    if (isLarge) return this.#parsers;
    // The response to a small POST, or to a DELETE, is small.
    return method === 'POST' || method === 'DELETE' ? undefined : this.#others;
  }

  #begin({ state: { rostrum } }: Context): void {
    if (this.#count >= limits.total) throw overloaded;
    this.#count += 1;
    rostrum.releases.push(() => {
      this.#count -= 1;
    });
  }
}

/** Releases what a request has reserved: at its end, or earlier for a handler that only waits. */
export function releaseSlots({ state: { rostrum } }: Context): void {
  for (const release of rostrum.releases.splice(0)) release();
}
