import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { type CreateOptions, createRostrum, type JsonObject } from '../../src/index.ts';
import type { Calls, Outcome, Resource } from './calls.ts';
import { coreCalls } from './core-calls.ts';

const receiptMs = 24 * 60 * 60 * 1000;

interface Keyed {
  readonly input: JsonObject;
  readonly options: CreateOptions;
  /** When its receipt ends. */
  readonly until: number;
}

/** The core on a memory store: it says what the outcome of each call has to be. */
export class Oracle {
  /** Far ahead, so that no sweep of a store that goes by the real time takes a receipt away. */
  now = Date.parse('2100-01-01T00:00:00.000Z');
  /** Every id that was ever made, and those of the records that there are, the youngest last. */
  readonly made: Record<Resource, string[]> = { users: [], posts: [] };
  readonly alive: Record<Resource, string[]> = { users: [], posts: [] };
  /** The creations that made a receipt, the youngest last. */
  readonly keyed: Record<Resource, Keyed[]> = { users: [], posts: [] };
  #asked = 0;

  /** The clock and the ids of both cores. The order of ids is not the order of creations. */
  readonly parts = {
    clock: { now: () => new Date(this.now).toISOString() },
    ids: { next: () => `${String((this.#asked * 7919) % 100_003).padStart(6, '0')}` },
  };

  readonly #store = createMemoryStore();
  readonly #calls = coreCalls(createRostrum(this.#store, this.parts));

  /** What a call has to end in on the other core, which is asked next. */
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

  /** Moves the clock; not back over the end of a receipt, which may be forgotten for good by now. */
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
