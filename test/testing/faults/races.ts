import { isRostrumError } from '../../../src/ports/index.ts';
import { earlierOf, elsewhere, type Fault, inBoth, inDeletions } from './plant.ts';

/** Loses updates: a change replaces what it read, whatever happened since. */
export const decideThenWrite = inBoth((inner) => ({
  update: async (id, decide) => {
    const current = await inner.get(id);
    if (current === undefined) return undefined;
    const next = decide(current);
    await elsewhere();
    return inner.update(id, () => next);
  },
}));

/** Stores a user without an address that is taken, as if it had been free a moment ago. */
const lookForAddressThenWrite: Fault['plan'] = {
  users: (inner) => {
    const withoutTaken = async <T>(write: (isTaken: boolean) => Promise<T>): Promise<T> => {
      try {
        return await write(false);
      } catch (error) {
        if (!isRostrumError(error, 'email-taken')) throw error;
        return write(true);
      }
    };
    return {
      create: async (record, receipt) => {
        await elsewhere();
        return withoutTaken((isTaken) =>
          inner.create(isTaken ? { ...record, email: null } : record, receipt),
        );
      },
      update: (id, decide) =>
        withoutTaken((isTaken) =>
          inner.update(id, (now) => (isTaken ? { ...decide(now), email: null } : decide(now))),
        ),
    };
  },
};

export const races: Fault[] = [
  {
    fault: 'decides, and writes a moment later',
    breaks: '50 changes without a condition all land',
    plan: decideThenWrite,
  },
  {
    fault: 'looks for the id, and writes over it a moment later',
    breaks: 'of 20 creations with one id, one wins',
    plan: inBoth((inner) => ({
      create: async (record, receipt) => {
        if (await inner.get(record.id)) return inner.create(record, receipt);
        await elsewhere();
        const stored = await inner.update(record.id, () => record);
        return stored ? Object.assign(stored, { replayed: false }) : inner.create(record, receipt);
      },
    })),
  },
  {
    fault: 'looks for the record, and deletes it a moment later',
    breaks: 'of 20 deletions of one record, one finds it',
    plan: inDeletions(async (id, guard, proceed, inner) => {
      const found = await inner.get(id);
      await elsewhere();
      await proceed(guard);
      return found !== undefined;
    }),
  },
  {
    fault: 'asks the guard, and deletes a moment later',
    breaks: 'of changes and deletions of one version, one wins',
    plan: inDeletions(async (id, guard, proceed, inner) => {
      const found = await inner.get(id);
      if (found === undefined) return false;
      guard?.(found);
      await elsewhere();
      return proceed();
    }),
  },
  {
    fault: 'writes a change in two steps',
    breaks: 'a reader never sees half of a change',
    plan: inBoth((inner) => ({
      update: async (id, decide) => {
        await inner.update(id, (current) => ({ ...decide(current), b: current.record.b ?? null }));
        await elsewhere();
        return inner.update(id, decide);
      },
    })),
  },
  {
    fault: 'looks for the receipt, and makes the record a moment later',
    breaks: 'of 20 creations under one receipt, one wins',
    plan: inBoth((inner) => ({
      create: async (record, receipt) => {
        const earlier = receipt && (await earlierOf(inner, receipt));
        if (earlier) return earlier;
        await elsewhere();
        const creation = await inner.create(record, receipt);
        return creation.replayed ? inner.create(record) : creation;
      },
    })),
  },
  {
    fault: 'looks for the email address, and writes a moment later',
    breaks: 'of 40 creations and moves to one email address',
    plan: lookForAddressThenWrite,
  },
];
