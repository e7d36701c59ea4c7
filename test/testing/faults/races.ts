import { emailTaken, isRostrumError, RostrumError } from '../../../src/ports/index.ts';
import { claimed, elsewhere, type Fault, inBoth, inDeletions } from './plant.ts';

const decideThenWrite = inBoth((inner) => ({
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
      create: async (make, claim) => {
        await elsewhere();
        return withoutTaken((isTaken) =>
          inner.create(() => (isTaken ? { ...make(), email: null } : make()), claim),
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
  ...['50 changes without a condition all land', 'of 50 changes to one version, one wins'].map(
    (breaks) => ({ fault: 'decides, and writes a moment later', breaks, plan: decideThenWrite }),
  ),
  {
    fault: 'looks for the id, and writes over it a moment later',
    breaks: 'of 20 creations with one id, one wins',
    plan: inBoth((inner) => ({
      create: async (make, claim) => {
        const record = make();
        if (await inner.get(record.id)) return inner.create(make, claim);
        await elsewhere();
        const stored = await inner.update(record.id, () => record);
        return stored
          ? Object.assign(stored, { replayed: false })
          : inner.create(() => record, claim);
      },
    })),
  },
  {
    fault: 'returns a later version than the call made',
    breaks: '50 changes without a condition all land',
    plan: inBoth((inner) => ({
      update: async (id, decide) => {
        const stored = await inner.update(id, decide);
        await elsewhere();
        return stored && inner.get(id);
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
    fault: 'looks for the claim, and makes the record a moment later',
    breaks: 'of 20 creations under one claim, one wins',
    plan: inBoth((inner) => ({
      create: async (make, claim) => {
        const earlier = claim && (await claimed(inner, claim));
        if (earlier) return earlier;
        await elsewhere();
        const creation = await inner.create(make, claim);
        return creation.replayed ? inner.create(make) : creation;
      },
    })),
  },
  {
    fault: 'tells a repeat that its own email address is taken',
    breaks: 'of 20 repeats, none finds its own email address taken',
    plan: {
      users: (inner) => ({
        create: async (make, claim) => {
          const earlier = claim && (await claimed(inner, claim));
          if (earlier) return earlier;
          await elsewhere();
          const creation = await inner.create(make, claim);
          if (creation.replayed) throw emailTaken();
          return creation;
        },
      }),
    },
  },
  {
    fault: 'refuses all who wait for a key when one of them fails',
    breaks: 'of creations under one key, a failed one leaves it to others',
    plan: {
      posts: (inner) => {
        const failed = new Set<string>();
        return {
          create: async (make, claim) => {
            await elsewhere();
            if (claim && failed.has(claim.key))
              throw new RostrumError('idempotency-key-reused', {});
            return inner.create(make, claim).catch((error) => {
              if (claim) failed.add(claim.key);
              throw error;
            });
          },
        };
      },
    },
  },
  {
    fault: 'lets racing requests under one key all be made',
    breaks: 'of different requests under one key, one wins',
    plan: inBoth((inner) => ({
      create: (make, claim) =>
        inner.create(make, claim).catch((error) => {
          if (!isRostrumError(error, 'idempotency-key-reused')) throw error;
          return inner.create(make);
        }),
    })),
  },
  ...[
    'of 50 creations with one email address, one wins',
    'of 20 users who move to one email address, one wins',
    'two users cannot swap their addresses in one go',
    'an address that is freed in a race goes to one user at most',
  ].map((breaks) => ({
    fault: 'looks for the email address, and writes a moment later',
    breaks,
    plan: lookForAddressThenWrite,
  })),
];
