import type { Claim } from '../../../src/domain/claim.ts';
import { type Instant, latestInstant } from '../../../src/domain/instant.ts';
import { inBoth, type Plan } from './plant.ts';

interface ClaimRules {
  /** Whether a claim that ends then is still good at a later claim’s `from`. */
  readonly holds: (until: Instant, from: Instant) => boolean;
  /** A repeat makes the claim last as long as its own. */
  readonly prolong?: true;
  /** Forgets every claim when it meets one that has ended. */
  readonly forgetAll?: true;
}

/** Claims with rules of their own: each life of a key is another key of the memory store’s. */
export function claimsBy({ holds, prolong, forgetAll }: ClaimRules): Plan {
  return inBoth((inner) => {
    const lives = new Map<string, { life: number; until: Instant }>();
    const translate = (claim: Claim): Claim => {
      const known = lives.get(claim.key);
      const life = known?.life ?? 0;
      const good = known === undefined || holds(known.until, claim.from);
      const key = JSON.stringify([claim.key, good ? life : life + 1]);
      return { ...claim, key, until: latestInstant };
    };
    return {
      create: async (record, claim) => {
        if (claim === undefined) return inner.create(record);
        const expired = [...lives.values()].some(({ until }) => until <= claim.from);
        if (forgetAll && expired) {
          for (const entry of lives.values()) entry.until = '0';
        }
        const translated = translate(claim);
        const creation = await inner.create(record, translated);
        const [, life] = JSON.parse(translated.key) as [string, number];
        if (!creation.replayed || prolong) lives.set(claim.key, { life, until: claim.until });
        return creation;
      },
      replay: (claim) => inner.replay(translate(claim)),
    };
  });
}
