import {
  type Claim,
  emailTaken,
  type Instant,
  latestInstant,
  RostrumError,
  unknownAuthor,
} from '../../../src/ports/index.ts';
import { pageOf } from '../../../src/testing/lists.ts';
import { claimed, type Fault, inBoth, type Plan } from './plant.ts';

export const claims: Fault[] = [
  {
    fault: 'makes the record before it looks for the claim, and raises what that throws',
    breaks: 'what make throws does not matter when the claim is found',
    plan: inBoth((inner) => ({
      create: async (make, claim) => {
        const record = make();
        return inner.create(() => record, claim);
      },
    })),
  },
  {
    fault: 'claims the key before it makes the record',
    breaks: 'what make throws ends the call, nothing is claimed',
    plan: claimFirst(),
  },
  {
    fault: 'does not look at the fingerprint',
    breaks: 'a key with another fingerprint is refused',
    plan: inBoth((inner) => ({
      create: (make, claim) => inner.create(make, claim && { ...claim, fingerprint: '' }),
    })),
  },
  {
    fault: 'answers a repeat with the record as it is now',
    breaks: 'a repeat returns the record as it was first made',
    plan: inBoth((inner) => ({
      create: async (make, claim) => {
        const creation = await inner.create(make, claim);
        const now = creation.replayed && (await inner.get(creation.record.id));
        return now ? Object.assign(now, { replayed: true }) : creation;
      },
    })),
  },
  {
    fault: 'forgets a claim with its record',
    breaks: 'a claim outlives its record',
    plan: inBoth((inner) => ({
      create: async (make, claim) => {
        const creation = await inner.create(make, claim);
        const isGone = creation.replayed && !(await inner.get(creation.record.id));
        return isGone ? inner.create(make) : creation;
      },
    })),
  },
  ...['id', 'email', 'author'].map((conflict) => ({
    fault: `claims the key before it looks at the ${conflict}`,
    breaks: `a creation that failed on its ${conflict} leaves no claim`,
    plan: claimFirst(),
  })),
  {
    fault: 'takes keys in any case for one',
    breaks: 'a key is exact',
    plan: inBoth((inner) => ({
      create: (make, claim) =>
        inner.create(make, claim && { ...claim, key: claim.key.toLowerCase(), fingerprint: '' }),
    })),
  },
  {
    fault: 'keeps the claims of users and posts in one table',
    breaks: 'claims of users and of posts are separate',
    plan: {
      posts: (inner, { users }) => ({
        create: async (make, claim) => {
          if (!claim || !(await claimed(users, claim))) return inner.create(make, claim);
          throw new RostrumError('idempotency-key-reused', {});
        },
      }),
    },
  },
  {
    fault: 'looks at a taken email before it looks at the claim',
    breaks: 'neither a repeat nor a reused key asks whether the email is taken',
    plan: {
      users: (inner) => ({
        create: async (make, claim) => {
          const { items } = await pageOf(inner, { filter: { email: make().email ?? '' } });
          if (items.length > 0) throw emailTaken();
          return inner.create(make, claim);
        },
      }),
    },
  },
  {
    fault: 'looks at an unknown author before it looks at the claim',
    breaks: 'neither a repeat nor a reused key asks whether the author exists',
    plan: {
      posts: (inner, { users }) => ({
        create: async (make, claim) => {
          const { authorId } = make();
          if (authorId !== null && !(await users.get(authorId))) throw unknownAuthor();
          return inner.create(make, claim);
        },
      }),
    },
  },
  {
    fault: 'keeps a claim at the very moment of its end',
    breaks: 'a claim is forgotten from its end on',
    plan: claimsThatHold((until, from) => from <= until),
  },
  {
    fault: 'forgets a claim a millisecond early',
    breaks: 'a claim holds up to the last millisecond',
    plan: claimsThatHold((until, from) => Date.parse(from) + 1 < Date.parse(until)),
  },
  {
    fault: 'judges a claim by a clock of its own',
    breaks: 'a claim is forgotten from its end on',
    plan: claimsThatHold((until) => Date.now() < Date.parse(until)),
  },
  {
    fault: 'makes a claim last longer with each repeat',
    breaks: 'a repeat does not make a claim last longer',
    plan: claimsThatHold((until, from) => from < until, 'prolonged'),
  },
];

function claimFirst(): Plan {
  return inBoth((inner) => {
    const known = new Set<string>();
    return {
      create: async (make, claim) => {
        if (claim && known.has(claim.key)) throw new RostrumError('idempotency-key-reused', {});
        return inner.create(make, claim).catch((error) => {
          if (claim) known.add(claim.key);
          throw error;
        });
      },
    };
  });
}

/** Claims that end by another rule: each life of a key is another key of the memory store. */
function claimsThatHold(
  holds: (until: Instant, from: Instant) => boolean,
  repeats?: 'prolonged',
): Plan {
  return inBoth((inner) => {
    const lives = new Map<string, { readonly life: number; readonly until: Instant }>();
    return {
      create: async (make, claim?: Claim) => {
        if (claim === undefined) return inner.create(make);
        const { life, until } = lives.get(claim.key) ?? { life: 0, until: latestInstant };
        const now = holds(until, claim.from) ? life : life + 1;
        const key = JSON.stringify([claim.key, now]);
        const creation = await inner.create(make, { ...claim, key, until: latestInstant });
        if (!creation.replayed || repeats) lives.set(claim.key, { life: now, until: claim.until });
        return creation;
      },
    };
  });
}
