import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { emailTaken, type Outcome, storeUnavailable, unknownAuthor } from 'rostrum/ports';

/** Numbers of 64 bits, versions and counts, come as text. */
export type Row = Readonly<Record<string, string | boolean | null>>;
export type Query = (text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** A pool of connections, and what all calls of a store have in common. */
export class Connections {
  readonly #pool: pg.Pool;
  readonly #calls = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(config: pg.PoolConfig) {
    // Neither a connection nor a response is waited for without end.
    this.#pool = new pg.Pool({ connectionTimeoutMillis: 5000, query_timeout: 30_000, ...config });
    // Without a listener, a connection that breaks while nothing is asked of it ends the process.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /** Reads by one statement, and so from one snapshot. */
  readonly read: Query = (text, values) => this.#call(() => on(this.#pool)(text, values));

  /** Makes a change in one transaction; `work` may run again. */
  change<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#call(async () => {
      const client = await this.#pool.connect().catch((error: unknown) => {
        throw storeUnavailable('none', error);
      });
      try {
        await on(client)('begin isolation level read committed');
        const result = await work(on(client));
        await on(client, 'unknown')('commit');
        client.release();
        return result;
      } catch (error) {
        // Nobody waits for it: a connection on which nothing comes back is thrown away in the end.
        const rollback = client.query('rollback').then(() => client.release());
        rollback.catch(() => client.release(true));
        throw error;
      }
    });
  }

  /** Waits for the calls first: a pool that ends does not serve those that wait for a connection. */
  close(): Promise<void> {
    const ended = Promise.allSettled(this.#calls).then(() => sleep(0)); // and for their callers
    this.#closing ??= ended.then(() => this.#pool.end());
    return this.#closing;
  }

  async #call<T>(body: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw storeUnavailable('none');
    const call = repeated(body);
    this.#calls.add(call);
    return call.finally(() => this.#calls.delete(call));
  }
}

/** Repeats what the server rolled back for the sake of others: a deadlock, a race of transactions. */
async function repeated<T>(body: () => Promise<T>, times = 20): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && error.code?.startsWith('40'))) throw error;
    if (times === 0) throw storeUnavailable('none', error);
    await sleep(Math.random() * 20);
    return repeated(body, times - 1);
  }
}

/** @param outcome what is known of a change when there is no response */
function on(target: pg.Pool | pg.PoolClient, outcome: Outcome = 'none'): Query {
  return async (text, values = []) => {
    try {
      return (await target.query(text, [...values])).rows;
    } catch (error) {
      // What has no code is not from the server: the connection broke, or time was up.
      if (!(error instanceof pg.DatabaseError)) throw storeUnavailable(outcome, error);
      // Connections, a standby, resources, shutdown, the system; what is left is a mistake in here.
      if (/^(?:08(?!P)|25|53|57|58)/.test(error.code ?? '')) throw storeUnavailable(outcome, error);
      if (error.constraint === 'unique_email') throw emailTaken();
      throw error.constraint === 'known_author' ? unknownAuthor() : error;
    }
  };
}
