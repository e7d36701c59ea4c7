import { type Context, type Middleware, RequestAborted } from '../context.ts';
import { overloaded, releaseSlots, Slots, slotLimits, Transfers } from './slots.ts';

/** In bytes. A larger body needs a slot to be read, and another one to be used. */
export const smallBody = 16 * 1024;

/** A list with a `limit` of at most this has slots of its own, so that larger pages don't delay it. */
const shortList = 20;

/** What metrics show of a limiter. */
export interface LimiterState {
  /** Requests that are being served. */
  readonly running: number;
  readonly waiting: number;
}

/**
 * Limits the work in progress, so that clients with many, large or slow requests don't delay others. A request takes a
 * slot of one class while it runs: `lists`, `shortLists`, `reads` (and pages), `writes` or `parsers` (with a large
 * body). Another class is for large bodies, from their first byte to the end of the request.
 */
export class Limiter {
  readonly #senders = new Transfers();
  readonly #bodies = new Slots(slotLimits.bodies);
  readonly #parsers = new Slots(slotLimits.parsers);
  readonly #lists = new Slots(slotLimits.lists);
  readonly #shortLists = new Slots(slotLimits.shortLists);
  readonly #reads = new Slots(slotLimits.reads);
  readonly #writes = new Slots(slotLimits.writes);
  /** Requests in progress or waiting. */
  #count = 0;

  get state(): LimiterState {
    const pages = [this.#lists, this.#shortLists];
    const all = [this.#bodies, this.#parsers, ...pages, this.#reads, this.#writes];
    const waiting = all.reduce((sum, slots) => sum + slots.waiting, 0);
    return { running: this.#count - waiting, waiting };
  }

  /** Rejects a request before its body is read: 503. It counts once it has a small body, or begins a large one. */
  readonly admit: Middleware = async (ctx, next) => {
    if (this.#count >= slotLimits.total) throw overloaded;
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
    this.#senders.remove(res);
  }

  /** Runs the rest of a request when a slot of its class is free: 503 after a wait. */
  run(isList = false): Middleware {
    return async (ctx, next) => {
      const { req, res } = ctx;
      const body = ctx.request.rawBody as unknown;
      const isLarge = Buffer.isBuffer(body) && body.length > smallBody;
      const isCounted = ctx.state.rostrum.releases.length > 0; // By reserveBody.
      if (!isCounted) this.#begin(ctx);
      const slots = this.#slotsOf(ctx, isList, isLarge);
      await slots.take(ctx);
      if (res.destroyed || req.socket.destroyed) throw new RequestAborted();
      await next();
      slots.countUntilRead(ctx);
    };
  }

  #slotsOf({ method, state }: Context, isList: boolean, isLarge: boolean): Slots {
    if (isList) {
      const limit = Number(state.rostrum.query.get('limit')?.[0]);
      return limit <= shortList ? this.#shortLists : this.#lists;
    }
    if (isLarge) return this.#parsers;
    return method === 'GET' || method === 'HEAD' ? this.#reads : this.#writes;
  }

  #begin({ state: { rostrum } }: Context): void {
    if (this.#count >= slotLimits.total) throw overloaded;
    this.#count += 1;
    rostrum.releases.push(() => {
      this.#count -= 1;
    });
  }
}
