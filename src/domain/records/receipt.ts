import { RostrumError } from '../errors.ts';
import { addMs, type Instant } from './instant.ts';
import { canonicalJson, type Json } from './json.ts';
import type { Collection } from './record.ts';

/** How long a repeated creation returns the record of the first one: 24 hours. */
const receiptLifetimeMs = 24 * 60 * 60 * 1000;

/** An idempotency key as a store keeps it, beside the record that was created under it. */
export interface Receipt {
  /** SHA-256 in hexadecimal of the caller, the collection and the caller's key. */
  readonly key: string;
  /** Equal for equal inputs: the same key with another fingerprint is rejected. */
  readonly fingerprint: string;
  /** The time of the creation. A stored receipt whose `until` is not after this has expired. */
  readonly from: Instant;
  readonly until: Instant;
}

/**
 * Returns the stored receipt if the creation under this receipt repeats that of the stored one; undefined
 * if the key is free.
 *
 * @throws RostrumError `idempotency-key-reused`
 */
export function repeatedReceipt<Stored extends Pick<Receipt, 'fingerprint' | 'until'>>(
  stored: Stored | undefined,
  { fingerprint, from }: Receipt,
): Stored | undefined {
  if (stored === undefined || stored.until <= from) return undefined;
  if (stored.fingerprint !== fingerprint) throw new RostrumError('idempotency-key-reused', {});
  return stored;
}

/** Options of a creation, which make it safe to repeat. */
export interface CreateOptions {
  /** Names the creation, for its caller, among users or among posts. */
  readonly idempotencyKey?: string | undefined;
  /**
   * The name of the caller. Calls without one share their keys. A service bound to a caller ignores this and
   * uses the caller's name.
   */
  readonly caller?: string | undefined;
}

export type Idempotency = CreateOptions & { readonly idempotencyKey: string };

/**
 * Makes a receipt of digests, so that a store keeps neither the caller's name nor the input.
 *
 * @param input of bounded depth
 */
export async function makeReceipt(
  { idempotencyKey, caller = '' }: Idempotency,
  collection: Collection,
  input: unknown,
  now: Instant,
): Promise<Receipt> {
  const name = JSON.stringify([caller, collection, idempotencyKey]);
  // Called before the first await, because the caller may reuse the input.
  const text = canonicalJson(input as Json);
  const [key, fingerprint] = await Promise.all([sha256(name), sha256(text)]);
  return { key, fingerprint, from: now, until: addMs(now, receiptLifetimeMs) };
}

async function sha256(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
