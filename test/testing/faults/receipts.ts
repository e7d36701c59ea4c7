import { RostrumError } from '../../../src/ports/index.ts';
import { type Fault, inBoth, type Plan } from './plant.ts';

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
    breaks: 'a repeat returns the record as it was first made',
    plan: inBoth((inner) => ({
      create: async (record, receipt) => {
        const creation = await inner.create(record, receipt);
        const isGone = creation.replayed && !(await inner.get(creation.record.id));
        return isGone ? inner.create(record) : creation;
      },
    })),
  },
  {
    fault: 'keeps the receipt before it looks at the id',
    breaks: 'a creation that failed on its id leaves no receipt',
    plan: receiptFirst(),
  },
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
    fault: 'keeps a receipt at the very moment of its end',
    breaks: 'a receipt ends at its until',
    plan: inBoth((inner) => ({
      create: (record, receipt) => {
        const until = receipt && new Date(Date.parse(receipt.until) + 1).toISOString();
        return inner.create(record, receipt && { ...receipt, until: until ?? receipt.until });
      },
    })),
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
