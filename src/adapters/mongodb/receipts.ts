import type { Collection, Document } from 'mongodb';
import { RostrumError } from '../../domain/errors.ts';
import { instantToMs } from '../../domain/instant.ts';
import type { Receipt } from '../../domain/receipt.ts';
import type { Entity, Id, Versioned } from '../../domain/record.ts';
import type { Call } from './connection/call.ts';
import { limits } from './connection/limits.ts';
import {
  firstVersion,
  type StoredPost,
  type StoredReceipt,
  type StoredRecord,
  toVersioned,
} from './schema/documents.ts';

/**
 * Receipts, each in the document of the record that was made under it: so record and receipt are one
 * write, and a unique index sees to it that a key makes one record.
 *
 * Whether a receipt still holds is judged by its `until` alone, as the port says. A creation that
 * meets an expired receipt drops it; so does the sweep, much later.
 */
export class Receipts<R extends Entity, D extends StoredRecord> {
  readonly #collection: Collection<D>;
  readonly #outwait: (call: Call, id: Id) => Promise<void>;

  /** @param outwait waits for a creation that is under way, or ends it */
  constructor(collection: Collection<D>, outwait: (call: Call, id: Id) => Promise<void>) {
    this.#collection = collection;
    this.#outwait = outwait;
  }

  /**
   * What was made under a receipt, by a creation that may still be under way; undefined when the key
   * is free. It frees a key whose receipt has expired.
   *
   * @throws RostrumError `idempotency-key-reused`
   */
  async settle(call: Call, receipt: Receipt): Promise<Versioned<R> | undefined> {
    for (;;) {
      const found = await call.read((bounds) =>
        this.#collection.findOne<StoredPost>(byKey(receipt), { hint: 'claims', ...bounds }),
      );
      if (found === null) return undefined;
      if (found.pending) {
        await this.#outwait(call, found._id);
        continue;
      }
      const made = madeUnder<R>(found, receipt);
      if (made !== undefined) return made;
      await this.#free(call, found._id, receipt);
    }
  }

  /** True when a document has the key, be it acknowledged yet or not. */
  async isTaken(call: Call, receipt: Receipt): Promise<boolean> {
    const options = { projection: { _id: 1 }, hint: 'claims', readConcern: 'local' } as const;
    const found = await call.readLocally((bounds) =>
      this.#collection.findOne(byKey(receipt), { ...options, ...bounds }),
    );
    return found !== null;
  }

  async #free(call: Call, _id: Id, { key, from }: Receipt): Promise<void> {
    const outlived = { key: storable(key), until: { $lte: from } };
    await call.prepare('free', (bounds) =>
      this.#collection.updateOne(
        { _id, claims: { $elemMatch: outlived } } as object,
        { $pull: { claims: outlived } } as object,
        bounds,
      ),
    );
  }
}

/** A receipt as it is stored with the record that is made under it now. */
export function toStoredReceipt({ key, fingerprint, from, until }: Receipt): StoredReceipt {
  // The sweep goes by the clock of this machine, which may be far from that of the receipt: so it
  // counts the receipt's lifetime from now.
  const lifetime = Math.max(instantToMs(until) - instantToMs(from), 0);
  const expires = new Date(Date.now() + lifetime + limits.graceMs);
  return { key: storable(key), fingerprint: storable(fingerprint), until, expires };
}

/** The receipts of a record that is about to change: each has the record as it was first made. */
export const receiptsWithFirst = {
  $cond: [
    { $isArray: '$claims' },
    { $map: { input: '$claims', in: { $mergeObjects: [{ first: '$record' }, '$$this'] } } },
    '$$REMOVE',
  ],
};

/** Puts a document in the place of another, or of none; the receipts of that one live on. */
export function replacing(document: object): Document[] {
  const kept = { claims: receiptsWithFirst };
  return [{ $replaceWith: { $mergeObjects: [{ $literal: document }, kept] } }];
}

/**
 * What is left of a record that is deleted: its id, which is given to no other record, and its receipts
 * for as long as they live.
 */
export const tombstone: Document[] = [{ $replaceWith: { _id: '$_id', claims: receiptsWithFirst } }];

export function hasReceipts({ claims = [] }: StoredRecord): boolean {
  return claims.length > 0;
}

function madeUnder<R extends Entity>(
  { claims, record }: StoredRecord,
  { key, fingerprint, from }: Receipt,
): Versioned<R> | undefined {
  const stored = claims?.find((receipt) => receipt.key === storable(key));
  if (stored === undefined || stored.until <= from) return undefined;
  if (stored.fingerprint !== storable(fingerprint)) {
    throw new RostrumError('idempotency-key-reused', {});
  }
  const first = stored.first ?? record;
  return first && toVersioned<R>(first, firstVersion);
}

function byKey({ key }: Receipt): object {
  return { 'claims.key': storable(key) };
}

/** Maps every text to a text of its own that BSON can hold, also one with half a surrogate pair. */
function storable(text: string): string {
  return text.isWellFormed() && !text.startsWith('~') ? text : `~${JSON.stringify(text)}`;
}
