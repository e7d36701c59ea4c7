import { addMs, type Instant } from './instant.ts';

/** For how long a repeat of a creation gets the first one's record: 24 hours. */
const claimLifetimeMs = 24 * 60 * 60 * 1000;

/** What a caller says to make a creation safe to repeat. */
export interface Idempotency {
  /** Names the creation; one key, one record. */
  readonly key: string;
  /** Equal for equal requests: the same key with another fingerprint is refused. */
  readonly fingerprint: string;
}

/** An idempotency key as a store keeps it, beside the record that was made under it. */
export interface Claim extends Idempotency {
  /** When the claim is made. A stored claim whose `until` is not after it is as good as gone. */
  readonly from: Instant;
  readonly until: Instant;
}

export function makeClaim({ key, fingerprint }: Idempotency, now: Instant): Claim {
  return { key, fingerprint, from: now, until: addMs(now, claimLifetimeMs) };
}
