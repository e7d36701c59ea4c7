import type { Claim } from '../../domain/claim.ts';
import { idempotencyKeyReused } from '../../domain/errors.ts';
import type { Versioned } from '../../domain/record.ts';

/** The claims of one kind of record, each with the record that was made under it. */
export class Claims<R> {
  readonly #byKey = new Map<string, { claim: Claim; stored: Versioned<R> }>();

  /**
   * What was made under a claim; undefined when its key is free.
   *
   * @throws RostrumError `idempotency-key-reused`
   */
  find(claim: Claim): Versioned<R> | undefined {
    const known = this.#byKey.get(claim.key);
    if (known === undefined || known.claim.until <= claim.from) return undefined;
    if (known.claim.fingerprint !== claim.fingerprint) throw idempotencyKeyReused();
    return known.stored;
  }

  add(claim: Claim, stored: Versioned<R>): void {
    this.#forgetOutlived(claim);
    this.#byKey.delete(claim.key);
    this.#byKey.set(claim.key, { claim: { ...claim }, stored });
  }

  /** The oldest come first, as a rule; the first that is not outlived ends the search. */
  #forgetOutlived({ from }: Claim): void {
    for (const [key, { claim }] of this.#byKey) {
      if (claim.until > from) return;
      this.#byKey.delete(key);
    }
  }
}
