import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { type CreateOptions, createRostrum, type JsonObject } from '../../src/index.ts';
import type { Calls, Outcome, Resource } from './calls.ts';
import { coreCalls } from './core-calls.ts';

const receiptMs = 24 * 60 * 60 * 1000;

interface Keyed {
  readonly input: JsonObject;
  readonly options: CreateOptions;
  /** The time when its receipt expires. */
  readonly until: number;
}

/** A core on the memory store, which determines the expected outcome of each call. */
export class Oracle {
  /** Far in the future, so that no store removes receipts according to the real time. */
  now = Date.parse('2100-01-01T00:00:00.000Z');
  /** All ids ever created, and those of existing records, newest last. */
  readonly made: Record<Resource, string[]> = { users: [], posts: [] };
  readonly alive: Record<Resource, string[]> = { users: [], posts: [] };
  /** Creations with a receipt, newest last. */
  readonly keyed: Record<Resource, Keyed[]> = { users: [], posts: [] };
  #asked = 0;

  /** The clock and id generator of both cores. Ids are not in the order of creation. */
  readonly parts = {
    clock: { now: () => new Date(this.now).toISOString() },
    ids: { next: () => `${String((this.#asked * 7919) % 100_003).padStart(6, '0')}` },
  };

  readonly #store = createMemoryStore();
  readonly #calls = coreCalls(createRostrum(this.#store, this.parts));

  /** Returns the outcome that the other core must return for a call. */
  async ask(call: (calls: Calls) => Promise<Outcome>): Promise<Outcome> {
    this.#asked += 1;
    const outcome = await call({ ...this.#calls, create: (...args) => this.#create(...args) });
    for (const resource of ['users', 'posts'] as const) {
      const found = this.made[resource].map((id) => this.#store[resource].get(id));
      const present = await Promise.all(found);
      this.alive[resource] = this.made[resource].filter((_, n) => present[n] !== undefined);
    }
    return outcome;
  }

  /** Moves the clock, but not back before the expiry of a receipt, which stores may have removed already. */
  tick(ms: number): void {
    const receipts = [...this.keyed.users, ...this.keyed.posts];
    const ends = receipts.map(({ until }) => until).filter((until) => until <= this.now);
    this.now = Math.max(this.now + ms, ...(ms < 0 ? ends : []));
  }

  async #create(...[resource, input, options]: Parameters<Calls['create']>): Promise<Outcome> {
    const outcome = await this.#calls.create(resource, input, options);
    if ('record' in outcome && outcome.replayed === false) {
      this.made[resource].push(String(outcome.record.id));
      const isKeyed = options.idempotencyKey !== undefined;
      if (isKeyed) this.keyed[resource].push({ input, options, until: this.now + receiptMs });
    }
    return outcome;
  }
}
