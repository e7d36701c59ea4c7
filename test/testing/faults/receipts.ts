import {
  emailTaken,
  type Instant,
  latestInstant,
  type Receipt,
  RostrumError,
  unknownAuthor,
} from '../../../src/ports/index.ts';
import { pageOf } from '../../../src/testing/lists.ts';
import { earlierOf, type Fault, inBoth, type Plan } from './plant.ts';

export const receipts: Fault[] = [
  {
    fault: 'does not look at the fingerprint',
    breaks: 'a key with another fingerprint is refused',
    plan: inBoth((inner) => ({
      create: (record, receipt) => inner.create(record, receipt && { ...receipt, fingerprint: '' }),
    })),
  },
  {
    fault: 'answers a repeat with the record as it is now',
    breaks: 'a repeat returns the record as it was first made',
    plan: inBoth((inner) => ({
      create: async (record, receipt) => {
        const creation = await inner.create(record, receipt);
        const now = creation.replayed && (await inner.get(creation.record.id));
        return now ? Object.assign(now, { replayed: true }) : creation;
      },
    })),
  },
  {
    fault: 'forgets a receipt with its record',
    breaks: 'a receipt outlives its record',
    plan: inBoth((inner) => ({
      create: async (record, receipt) => {
        const creation = await inner.create(record, receipt);
        const isGone = creation.replayed && !(await inner.get(creation.record.id));
        return isGone ? inner.create(record) : creation;
      },
    })),
  },
  ...['id', 'email', 'author'].map((conflict) => ({
    fault: `keeps the receipt before it looks at the ${conflict}`,
    breaks: `a creation that failed on its ${conflict} leaves no receipt`,
    plan: receiptFirst(),
  })),
  {
    fault: 'takes keys in any case for one',
    breaks: 'a key is exact',
    plan: inBoth((inner) => ({
      create: (record, receipt) =>
        inner.create(
          record,
          receipt && { ...receipt, key: receipt.key.toLowerCase(), fingerprint: '' },
        ),
    })),
  },
  {
    fault: 'keeps the receipts of users and posts in one table',
    breaks: 'receipts of users and of posts are separate',
    plan: {
      posts: (inner, { users }) => ({
        create: async (record, receipt) => {
          if (!receipt || !(await earlierOf(users, receipt))) return inner.create(record, receipt);
          throw new RostrumError('idempotency-key-reused', {});
        },
      }),
    },
  },
  {
    fault: 'looks at a taken email before it looks at the receipt',
    breaks: 'neither a repeat nor a reused key asks whether the email is taken',
    plan: {
      users: (inner) => ({
        create: async (record, receipt) => {
          const { items } = await pageOf(inner, { filter: { email: record.email ?? '' } });
          if (items.length > 0) throw emailTaken();
          return inner.create(record, receipt);
        },
      }),
    },
  },
  {
    fault: 'looks at an unknown author before it looks at the receipt',
    breaks: 'neither a repeat nor a reused key asks whether the author exists',
    plan: {
      posts: (inner, { users }) => ({
        create: async (record, receipt) => {
          const { authorId } = record;
          if (authorId !== null && !(await users.get(authorId))) throw unknownAuthor();
          return inner.create(record, receipt);
        },
      }),
    },
  },
  {
    fault: 'keeps a receipt at the very moment of its end',
    breaks: 'a receipt is forgotten from its end on',
    plan: receiptsThatHold((until, from) => from <= until),
  },
  {
    fault: 'forgets a receipt a millisecond early',
    breaks: 'a receipt holds up to the last millisecond',
    plan: receiptsThatHold((until, from) => Date.parse(from) + 1 < Date.parse(until)),
  },
  {
    fault: 'judges a receipt by a clock of its own',
    breaks: 'a receipt is forgotten from its end on',
    plan: receiptsThatHold((until) => Date.now() < Date.parse(until)),
  },
  {
    fault: 'makes a receipt last longer with each repeat',
    breaks: 'a repeat does not make a receipt last longer',
    plan: receiptsThatHold((until, from) => from < until, 'prolonged'),
  },
];

function receiptFirst(): Plan {
  return inBoth((inner) => {
    const known = new Set<string>();
    return {
      create: async (record, receipt) => {
        if (receipt && known.has(receipt.key)) throw new RostrumError('idempotency-key-reused', {});
        return inner.create(record, receipt).catch((error) => {
          if (receipt) known.add(receipt.key);
          throw error;
        });
      },
    };
  });
}

/** Receipts that end by another rule: each life of a key is another key of the memory store. */
function receiptsThatHold(
  holds: (until: Instant, from: Instant) => boolean,
  repeats?: 'prolonged',
): Plan {
  return inBoth((inner) => {
    const lives = new Map<string, { readonly life: number; readonly until: Instant }>();
    return {
      create: async (record, receipt?: Receipt) => {
        if (receipt === undefined) return inner.create(record);
        const { life, until } = lives.get(receipt.key) ?? { life: 0, until: latestInstant };
        const now = holds(until, receipt.from) ? life : life + 1;
        const key = JSON.stringify([receipt.key, now]);
        const creation = await inner.create(record, { ...receipt, key, until: latestInstant });
        if (!creation.replayed || repeats)
          lives.set(receipt.key, { life: now, until: receipt.until });
        return creation;
      },
    };
  });
}
