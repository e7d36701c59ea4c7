import type { Claim } from '../../domain/claim.ts';
import { idempotencyKeyReused } from '../../domain/errors.ts';
import { instantToMs } from '../../domain/instant.ts';
import type { Connection } from './connection.ts';

/** How many claims that are long gone go with each one that is made: more than come in. */
const purgedAtOnce = 4;

/** A clock that steps back this much still finds what was claimed. */
const purgeDelayMs = 60 * 60 * 1000;

interface ClaimRow {
  readonly fingerprint: string;
  readonly until: number;
  readonly record: string;
}

/** The idempotency keys of one kind of record. */
export class Claims {
  readonly #connection: Connection;
  readonly #kind: string;

  constructor(connection: Connection, kind: string) {
    this.#connection = connection;
    this.#kind = kind;
  }

  /**
   * What was made under a claim, as JSON text; undefined when its key is free.
   *
   * @throws RostrumError `idempotency-key-reused`
   */
  find({ key, fingerprint, from }: Claim): string | undefined {
    const claimed = this.#connection.get<ClaimRow>(
      'SELECT fingerprint, until, record FROM claims WHERE kind = ? AND key = ?',
      this.#kind,
      stored(key),
    );
    if (claimed === undefined || claimed.until <= instantToMs(from)) return undefined;
    if (claimed.fingerprint !== fingerprint) throw idempotencyKeyReused();
    return claimed.record;
  }

  /** Claims a key that is free: unknown, or known by a claim that ran out. */
  add({ key, fingerprint, from, until }: Claim, record: string): void {
    this.#connection.run(
      `INSERT INTO claims (kind, key, fingerprint, until, record) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (kind, key) DO UPDATE
      SET fingerprint = excluded.fingerprint, until = excluded.until, record = excluded.record`,
      this.#kind,
      stored(key),
      fingerprint,
      instantToMs(until),
      record,
    );
    this.#connection.run(
      `DELETE FROM claims WHERE rowid IN
      (SELECT rowid FROM claims WHERE until <= ? ORDER BY until LIMIT ${purgedAtOnce})`,
      instantToMs(from) - purgeDelayMs,
    );
  }
}

/** A key as text that SQLite keeps: half a surrogate pair would be another character to it. */
function stored(key: string): string {
  return key.isWellFormed() && !key.startsWith('\0') ? key : `\0${JSON.stringify(key)}`;
}
