import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  emailTaken,
  fieldTaken,
  type Outcome,
  refusedByDatabase,
  storeUnavailable,
  unknownAuthor,
  wrongType,
} from 'rostrum/ports';
import { declaredField, uniqueField } from './schema.ts';

/** Integers of 64 bits (versions and counts) arrive as text. */
export type Row = Readonly<Record<string, string | boolean | null>>;
export type Query = (text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** The connections of a store: transactions, retries, errors, and the end. */
export class Connections {
  readonly #pool: pg.Pool;
  /** For `ready`, which must not wait behind other calls. */
  readonly #probe: pg.Pool;
  readonly #calls = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(config: pg.PoolConfig) {
    this.#pool = poolOf(config);
    this.#probe = poolOf({ ...config, max: 1 });
  }

  /** Reads with one statement, and so from one snapshot. */
  readonly read: Query = (text, values) => this.#call(() => on(this.#pool)(text, values));

  async ready(): Promise<void> {
    await this.#call(() => on(this.#probe)('select 1'));
  }

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
        // Not awaited: a connection that does not answer is discarded after the query timeout.
        const rollback = client.query('rollback').then(() => client.release());
        rollback.catch(() => client.release(true));
        throw error;
      }
    });
  }

  /** Waits for the calls before it ends the pools: an ending pool rejects calls that are waiting. */
  close(): Promise<void> {
    const ended = Promise.allSettled(this.#calls).then(() => sleep(0)); // and for their callers
    this.#closing ??= ended.then(async () => {
      await Promise.all([this.#pool.end(), this.#probe.end()]);
    });
    return this.#closing;
  }

  async #call<T>(body: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw storeUnavailable('none');
    const call = retried(body);
    this.#calls.add(call);
    return call.finally(() => this.#calls.delete(call));
  }
}

function poolOf(config: pg.PoolConfig): pg.Pool {
  // Every wait for a connection or a response has an end.
  const pool = new pg.Pool({ connectionTimeoutMillis: 5000, query_timeout: 30_000, ...config });
  // Without a listener, an idle connection that breaks ends the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Retries what the server rolled back because of another transaction, such as a deadlock. */
async function retried<T>(body: () => Promise<T>, times = 20): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && isRace(error))) throw error;
    if (times === 0) throw storeUnavailable('none', error);
    await sleep(Math.random() * 20);
    return retried(body, times - 1);
  }
}

/** Of two creations with one id, the unique column of the other one's row can be met before its id. */
function isRace({ code, constraint }: pg.DatabaseError): boolean {
  return code?.startsWith('40') === true || constraint === 'existing_user';
}

/** @param outcome what is known of a change when there is no response */
function on(target: pg.Pool | pg.PoolClient, outcome: Outcome = 'none'): Query {
  return async (text, values = []) => {
    try {
      return (await target.query(text, [...values])).rows;
    } catch (error) {
      // An error that is not from the server: the connection broke, or the time was up.
      if (!(error instanceof pg.DatabaseError)) throw storeUnavailable(outcome, error);
      const { code = '', constraint } = error;
      // Connection, standby, resources, shutdown, or the system.
      if (/^(?:08(?!P)|25|53|57|58)/.test(code)) throw storeUnavailable(outcome, error);
      if (constraint === 'unique_email') throw emailTaken();
      if (constraint === 'known_author') throw unknownAuthor();
      const field = uniqueField(constraint);
      if (field !== undefined) throw fieldTaken(field);
      const wrong = declaredField(constraint);
      if (wrong !== undefined) throw wrongType([wrong]);
      // A constraint or trigger that someone has added. Anything else is a mistake in this store.
      if (/^(?:23|P0001)/.test(code) && !isRace(error)) throw refusedByDatabase(error);
      throw error;
    }
  };
}
