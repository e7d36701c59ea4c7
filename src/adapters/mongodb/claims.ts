import type { Collection } from 'mongodb';
import type { Claim } from '../../domain/claim.ts';
import { idempotencyKeyReused } from '../../domain/errors.ts';
import { instantToMs } from '../../domain/instant.ts';
import type { Entity, Versioned } from '../../domain/record.ts';
import type { Call } from './call.ts';
import {
  firstVersion,
  type StoredClaim,
  type StoredPost,
  type StoredRecord,
  toRecord,
} from './documents.ts';
import { limits } from './limits.ts';
import type { PendingPosts } from './pending-posts.ts';

/**
 * Claims, each in the document of the record that was made under it: so record and claim are one
 * write, and a unique index sees to it that a key makes one record.
 *
 * Whether a claim still holds is judged by its `until` alone, as the port says. What is outlived
 * is dropped by who meets it, or by the sweep, which comes much later.
 */
export class Claims<R extends Entity, D extends StoredRecord> {
  readonly #collection: Collection<D>;
  readonly #pending: PendingPosts | undefined;

  constructor(collection: Collection<D>, pending?: PendingPosts) {
    this.#collection = collection;
    this.#pending = pending;
  }

  /**
   * What was made under a claim; undefined when its key is free.
   *
   * @throws RostrumError `idempotency-key-reused`
   */
  async find(call: Call, claim: Claim): Promise<Versioned<R> | undefined> {
    const holder = await this.#holder(call, claim);
    return holder && !isPending(holder) ? this.#madeUnder(holder, claim) : undefined;
  }

  /**
   * The same for somebody who is about to make a record under it: waits for a creation under the
   * key that is under way, and frees a key that is outlived.
   *
   * @throws RostrumError `idempotency-key-reused`
   */
  async settle(call: Call, claim: Claim): Promise<Versioned<R> | undefined> {
    for (;;) {
      const holder = await this.#holder(call, claim);
      if (holder === undefined) return undefined;
      if (isPending(holder)) {
        await this.#pending?.outwait(call, [holder._id]);
        continue;
      }
      const made = this.#madeUnder(holder, claim);
      if (made !== undefined) return made;
      await this.#free(call, holder, claim);
    }
  }

  /** True when a document has the key, be it acknowledged yet or not. */
  async isTaken(call: Call, { key }: Claim): Promise<boolean> {
    const options = { projection: { _id: 1 }, hint: 'claims', readConcern: 'local' } as const;
    const found = await call.read((bounds) =>
      this.#collection.findOne(byKey(key), { ...options, ...bounds }),
    );
    return found !== null;
  }

  async #holder(call: Call, { key }: Claim): Promise<StoredRecord | undefined> {
    const found = await call.read((bounds) =>
      this.#collection.findOne<StoredRecord>(byKey(key), { hint: 'claims', ...bounds }),
    );
    return found ?? undefined;
  }

  #madeUnder(holder: StoredRecord, claim: Claim): Versioned<R> | undefined {
    const stored = holder.claims?.find(({ key }) => key === claim.key);
    if (stored === undefined || stored.until <= claim.from) return undefined;
    if (stored.fingerprint !== claim.fingerprint) throw idempotencyKeyReused();
    const first = stored.first ?? holder.record;
    return first && { record: toRecord<R>(first), version: firstVersion };
  }

  async #free(call: Call, { _id }: StoredRecord, { key, from }: Claim): Promise<void> {
    const outlived = { key, until: { $lte: from } };
    await call.prepare('free', (bounds) =>
      this.#collection.updateOne(
        { _id, claims: { $elemMatch: outlived } } as object,
        { $pull: { claims: outlived } } as object,
        bounds,
      ),
    );
  }
}

/** A claim as it is stored with the record that is made under it now. */
export function toStoredClaim({ key, fingerprint, from, until }: Claim): StoredClaim {
  // A claim's times are its maker's; the sweep goes by the machine's clock. However far apart the
  // two are, what the claim lasts by the one it lasts by the other.
  const lifetime = Math.max(instantToMs(until) - instantToMs(from), 0);
  return { key, fingerprint, until, expires: new Date(Date.now() + lifetime + limits.graceMs) };
}

/** The claims that a changed or deleted record keeps, each with the record as it was first made. */
export function keptClaims(stored: StoredRecord): readonly StoredClaim[] {
  const now = Date.now();
  return (stored.claims ?? [])
    .filter(({ expires }) => expires.getTime() > now)
    .map((claim) => (claim.first || !stored.record ? claim : { ...claim, first: stored.record }));
}

/** What is left of a deleted record, so that its claims live on; undefined when it has none. */
export function tombstoneOf(stored: StoredRecord): StoredRecord | undefined {
  const claims = keptClaims(stored);
  if (claims.length === 0) return undefined;
  const last = Math.max(...claims.map(({ expires }) => expires.getTime()));
  return { _id: stored._id, claims, expires: new Date(last) };
}

function byKey(key: string): object {
  return { 'claims.key': key };
}

function isPending(holder: StoredPost): boolean {
  return holder.pending === true;
}
