import { clientOf } from '../client-address.ts';
import { type Context, type Middleware, RequestAborted } from '../context.ts';
import { overloaded, releaseSlots, Slots, slotLimits, Transfers } from './slots.ts';

/** A client that retries at once would take as much time as requests that are served. */
async function rejectLater(): Promise<never> {
  const ms = slotLimits.rejectMs * (1 + Math.random()); // Spread, so that they don't end at once.
  await new Promise((resolve) => setTimeout(resolve, ms));
  throw overloaded;
}

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
  /** Requests in progress or waiting: all, and those of each client. */
  #count = 0;
  readonly #counts = new Map<string, number>();

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
    await this.#begin(ctx);
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
      if (!isCounted) await this.#begin(ctx);
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

  /** Counts a request until its end: 503 at once if there are too many, and after a while if they are of its client. */
  #begin(ctx: Context): Promise<never> | undefined {
    if (this.#count >= slotLimits.total) throw overloaded;
    const client = clientOf(ctx);
    const own = this.#counts.get(client) ?? 0;
    if (own >= slotLimits.perClient) return rejectLater();
    this.#count += 1;
    this.#counts.set(client, own + 1);
    ctx.state.rostrum.releases.push(() => {
      this.#count -= 1;
      const left = (this.#counts.get(client) ?? 1) - 1;
      if (left === 0) this.#counts.delete(client);
      else this.#counts.set(client, left);
    });
    return undefined;
  }
}
