import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { isRostrumError, type Outcome, storeUnavailable } from 'rostrum/ports';
import { errorOf, wasRolledBack } from './errors.ts';

/** Makes one statement and returns its rows. */
export type Query = (text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** What the driver reads: a number of 64 bits, a version or a count, comes as text. */
export interface Row {
  readonly [column: string]: string | boolean | null;
}

/** How often a change is made again that the server rolled back for another one's sake. */
const repeats = 20;

/** A pool of connections, and what all calls of a store have in common. */
export class Connections {
  readonly #pool: pg.Pool;
  readonly #calls = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(config: pg.PoolConfig) {
    // Neither a connection nor a response is waited for without end.
    this.#pool = new pg.Pool({ connectionTimeoutMillis: 5000, query_timeout: 30_000, ...config });
    // The call that needs a broken connection tells of it. Without a listener, one that breaks while
    // nothing is asked of it would end the process.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /** Reads by one statement, and so from one snapshot. */
  read(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#call(() => ask(this.#pool, text, values, 'none'));
  }

  /** Makes a change in one transaction; `work` may run again. */
  change<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#call(async () => {
      for (let left = repeats; ; left--) {
        try {
          return await this.#transaction(work);
        } catch (error) {
          if (left === 0 || !wasRolledBack(error)) throw error;
        }
        await sleep(Math.random() * 20);
      }
    });
  }

  /** Waits for the calls first: a pool that ends never serves those that wait for a connection. */
  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#calls).then(() => this.#pool.end());
    return this.#closing;
  }

  async #transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw errorOf(error, 'none');
    });
    try {
      await ask(client, 'begin isolation level read committed', [], 'none');
      const result = await work((text, values = []) => ask(client, text, values, 'none'));
      await ask(client, 'commit', [], 'unknown');
      client.release();
      return result;
    } catch (error) {
      const isBroken = isRostrumError(error, 'store-unavailable') && !wasRolledBack(error);
      // A connection that cannot roll back is thrown away, and the server rolls back.
      const isUseless =
        isBroken ||
        (await client.query('rollback').then(
          () => false,
          () => true,
        ));
      client.release(isUseless);
      throw error;
    }
  }

  async #call<T>(body: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw storeUnavailable('none');
    const call = body();
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }
}

/** @param outcome what is known of the change when the statement gets no response */
async function ask(
  on: pg.Pool | pg.PoolClient,
  text: string,
  values: readonly unknown[],
  outcome: Outcome,
): Promise<Row[]> {
  try {
    return (await on.query<Row>(text, [...values])).rows;
  } catch (error) {
    throw errorOf(error, outcome);
  }
}
