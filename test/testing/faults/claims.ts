import { emailTaken, idempotencyKeyReused, unknownAuthor } from '../../../src/domain/errors.ts';
import { instantFromMs } from '../../../src/domain/instant.ts';
import { claimsBy } from './own-claims.ts';
import { type Fault, inBoth } from './plant.ts';

const order = { by: 'createdAt', direction: 'asc' } as const;

export const claims: Fault[] = [
  {
    fault: 'forgets that an answer is a replay',
    breaks: 'users: a repeat under one claim',
    plan: inBoth((inner) => ({
      create: async (...args) => ({ ...(await inner.create(...args)), replayed: false }),
    })),
  },
  {
    fault: 'does not look at the fingerprint',
    breaks: 'posts: a key with another fingerprint is refused',
    plan: inBoth((inner) => ({
      create: (record, claim) => inner.create(record, claim && { ...claim, fingerprint: '' }),
      replay: (claim) => inner.replay({ ...claim, fingerprint: '' }),
    })),
  },
  {
    fault: 'answers a repeat with the record as it is now',
    breaks: 'users: a replay returns the record as it was first made',
    plan: inBoth((inner) => ({
      create: async (record, claim) => {
        const creation = await inner.create(record, claim);
        const now = creation.replayed && (await inner.get(creation.stored.record.id));
        return now ? { ...creation, stored: now } : creation;
      },
    })),
  },
  {
    fault: 'forgets a claim with its record',
    breaks: 'posts: a claim outlives its record',
    plan: inBoth((inner) => ({
      create: async (record, claim) => {
        const creation = await inner.create(record, claim);
        const gone = creation.replayed && !(await inner.get(creation.stored.record.id));
        return gone ? inner.create(record) : creation;
      },
    })),
  },
  {
    fault: 'claims a key that was only asked for',
    breaks: 'users: replay is undefined for a key that is free',
    plan: inBoth((inner) => {
      const asked = new Set<string>();
      return {
        replay: (claim) => {
          asked.add(claim.key);
          return inner.replay(claim);
        },
        create: async (record, claim) => {
          if (claim && asked.has(claim.key)) throw idempotencyKeyReused();
          return inner.create(record, claim);
        },
      };
    }),
  },
  {
    fault: 'claims the key before it looks whether the id is taken',
    breaks: 'posts: a creation that failed on its id',
    plan: claimFirst(),
  },
  {
    fault: 'claims the key before it looks whether the email is taken',
    breaks: 'a creation that failed on its email',
    plan: claimFirst(),
  },
  {
    fault: 'claims the key before it looks whether the author exists',
    breaks: 'a creation that failed on its author',
    plan: claimFirst(),
  },
  {
    fault: 'takes keys in any case for one',
    breaks: 'users: a key is exact',
    plan: inBoth((inner) => ({
      create: (record, claim) =>
        inner.create(record, claim && { ...claim, key: claim.key.toLowerCase(), fingerprint: '' }),
    })),
  },
  {
    fault: 'keeps the claims of users and posts in one place',
    breaks: 'claims of users and of posts are separate',
    plan: {
      posts: (inner, { users }) => ({
        create: async (record, claim) => {
          if (claim && (await users.replay(claim))) throw idempotencyKeyReused();
          return inner.create(record, claim);
        },
      }),
    },
  },
  {
    fault: 'looks at a taken email before it looks at the claim',
    breaks: 'a replay does not ask whether the email is taken',
    plan: emailFirst(),
  },
  {
    fault: 'tells of a taken email before a reused key',
    breaks: 'a reused key is told before a taken email',
    plan: emailFirst(),
  },
  {
    fault: 'looks at an unknown author before it looks at the claim',
    breaks: 'a replay does not ask whether the author exists',
    plan: authorFirst(),
  },
  {
    fault: 'tells of an unknown author before a reused key',
    breaks: 'a reused key is told before an unknown author',
    plan: authorFirst(),
  },
  {
    fault: 'replays a post without the author who is gone',
    breaks: 'a replay tells of the author at first',
    plan: {
      posts: (inner, { users }) => ({
        replay: async (claim) => {
          const stored = await inner.replay(claim);
          const author = stored?.record.authorId;
          if (!stored || !author || (await users.get(author))) return stored;
          return { ...stored, record: { ...stored.record, authorId: null } };
        },
      }),
    },
  },
  {
    fault: 'keeps a claim at the very moment of its end',
    breaks: 'users: a claim is forgotten from its end on',
    plan: claimsBy({ holds: (until, from) => from <= until }),
  },
  {
    fault: 'forgets a claim a millisecond early',
    breaks: 'posts: a claim holds up to the last millisecond',
    plan: claimsBy({ holds: (until, from) => Date.parse(from) + 1 < Date.parse(until) }),
  },
  {
    fault: 'judges a claim by a clock of its own',
    breaks: 'users: a claim is forgotten from its end on',
    plan: claimsBy({ holds: (until) => instantFromMs(Date.now()) < until }),
  },
  {
    fault: 'never claims a key a second time',
    breaks: 'posts: a key that was free again is claimed anew',
    plan: inBoth((inner) => ({
      create: async (record, claim) => {
        const again = claim && claim.from > '2100-01-01T00:00:00.999Z';
        return again && !(await inner.replay(claim))
          ? inner.create(record)
          : inner.create(record, claim);
      },
    })),
  },
  {
    fault: 'makes a claim last longer with each repeat',
    breaks: 'users: a repeat does not make a claim last longer',
    plan: claimsBy({ holds: (until, from) => from < until, prolong: true }),
  },
  {
    fault: 'forgets all claims when one ends',
    breaks: 'posts: the end of one claim frees no other',
    plan: claimsBy({ holds: (until, from) => from < until, forgetAll: true }),
  },
];

function claimFirst() {
  return inBoth((inner) => {
    const claimed = new Set<string>();
    return {
      create: async (record, claim) => {
        if (claim && claimed.has(claim.key)) throw idempotencyKeyReused();
        try {
          return await inner.create(record, claim);
        } catch (error) {
          if (claim) claimed.add(claim.key);
          throw error;
        }
      },
    };
  });
}

function emailFirst(): Fault['plan'] {
  return {
    users: (inner) => ({
      create: async (record, claim) => {
        const { items } = await inner.list({ email: record.email ?? '' }, { order, limit: 1 });
        if (items.length > 0) throw emailTaken();
        return inner.create(record, claim);
      },
    }),
  };
}

function authorFirst(): Fault['plan'] {
  return {
    posts: (inner, { users }) => ({
      create: async (record, claim) => {
        const { authorId } = record;
        if (authorId !== null && !(await users.get(authorId))) throw unknownAuthor();
        return inner.create(record, claim);
      },
    }),
  };
}
