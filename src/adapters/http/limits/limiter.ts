import { type Context, type InternalState, type Middleware, RequestAborted } from '../context.ts';
import { overloaded, releaseSlots, Slots, slotLimits } from './slots.ts';

/** In bytes. A larger body needs a slot to be read, and another one to be used. */
export const smallBody = 16 * 1024;

/** A list with a `limit` of at most this has slots of its own, so that larger pages don't delay it. */
const shortList = 20;

/** The state of a limiter, for metrics. */
export interface LimiterState {
  /** Requests that are being served. */
  readonly running: number;
  readonly waiting: number;
}

/**
 * Limits the work in progress, so that clients with many, large or slow requests don't delay others. A request takes a
 * slot of its class while it runs. A large body also takes one of the uploads, from its first byte to the end of the
 * request.
 */
export class Limiter {
  readonly #slots = {
    lists: new Slots(slotLimits.lists),
    shortLists: new Slots(slotLimits.shortLists),
    /** Reads other than lists: of one record, and of events. */
    reads: new Slots(slotLimits.reads),
    writes: new Slots(slotLimits.writes),
    largeWrites: new Slots(slotLimits.largeWrites),
    uploads: new Slots(slotLimits.uploads, Number.POSITIVE_INFINITY),
  };
  /** Requests in progress or waiting. */
  #count = 0;
  readonly #counted = new WeakSet<InternalState>();

  get state(): LimiterState {
    const waiting = Object.values(this.#slots).reduce((sum, slots) => sum + slots.waiting, 0);
    return { running: this.#count - waiting, waiting };
  }

  /**
   * Rejects a request before its body is read if the server is full: 503. Gives its slots back at the end. A request counts
   * as in progress once its small body has arrived, or once its large body starts to arrive.
   */
  readonly admit: Middleware = async (ctx, next) => {
    if (this.#count >= slotLimits.total) throw overloaded;
    try {
      await next();
    } finally {
      releaseSlots(ctx);
    }
  };

  /** Reserves a slot for a body of more than {@link smallBody} until the request ends: 503 after a wait. */
  async reserveUpload(ctx: Context): Promise<void> {
    this.#countRequest(ctx);
    await this.#slots.uploads.take(ctx);
    this.#slots.uploads.transfers.set(ctx, performance.now());
    ctx.state.rostrum.releases.push(() => this.endUpload(ctx));
  }

  /** Notes that the body has arrived, or that the request has ended. */
  endUpload(ctx: Context): void {
    this.#slots.uploads.transfers.delete(ctx);
  }

  /** Runs the rest of a request when a slot of its class is free: 503 after a wait. */
  run(isList = false): Middleware {
    return async (ctx, next) => {
      const { req, res } = ctx;
      const body = ctx.request.rawBody as unknown;
      const isLarge = Buffer.isBuffer(body) && body.length > smallBody;
      this.#countRequest(ctx);
      const slots = this.#slotsOf(ctx, isList, isLarge);
      await slots.take(ctx);
      if (res.destroyed || req.socket.destroyed) throw new RequestAborted();
      await next();
      slots.trackUnreadResponse(ctx);
    };
  }

  #slotsOf({ method, state }: Context, isList: boolean, isLarge: boolean): Slots {
    const { lists, shortLists, reads, writes, largeWrites } = this.#slots;
    if (isList) {
      const limit = Number(state.rostrum.query.get('limit')?.[0]);
      return limit <= shortList ? shortLists : lists;
    }
    if (isLarge) return largeWrites;
    return method === 'GET' || method === 'HEAD' ? reads : writes;
  }

  /** Counts a request, unless it has been counted already. */
  #countRequest(ctx: Context): void {
    const { rostrum } = ctx.state;
    if (this.#counted.has(rostrum)) return;
    if (this.#count >= slotLimits.total) throw overloaded;
    this.#counted.add(rostrum);
    this.#count += 1;
    rostrum.releases.push(() => {
      this.#count -= 1;
    });
  }
}
