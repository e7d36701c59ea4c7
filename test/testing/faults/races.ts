import { emailTaken, idempotencyKeyReused, isRostrumError } from '../../../src/domain/errors.ts';
import { elsewhere, type Fault, inBoth, inDeletions } from './plant.ts';

export const races: Fault[] = [
  {
    fault: 'decides, and writes a moment later',
    breaks: 'users: 50 changes without a condition all land',
    plan: decideThenWrite(),
  },
  {
    fault: 'checks the version, and writes a moment later',
    breaks: 'posts: of 50 changes to one version, one wins',
    plan: decideThenWrite(),
  },
  {
    fault: 'looks for the id, and writes over it a moment later',
    breaks: 'users: of 20 creations with one id, one wins',
    plan: inBoth((inner) => ({
      create: async (record, claim) => {
        if (await inner.get(record.id)) return inner.create(record, claim);
        await elsewhere();
        const stored = await inner.update(record.id, () => record);
        return stored ? { stored, replayed: false } : inner.create(record, claim);
      },
    })),
  },
  {
    fault: 'returns a later version than the call made',
    breaks: 'posts: 50 changes without a condition all land',
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
    breaks: 'posts: of 20 deletions of one record, one finds it',
    plan: inDeletions(async (id, guard, proceed, inner) => {
      const found = await inner.get(id);
      await elsewhere();
      await proceed(guard);
      return found !== undefined;
    }),
  },
  {
    fault: 'asks the guard, and deletes a moment later',
    breaks: 'users: of changes and deletions of one version, one wins',
    plan: inDeletions(async (id, guard, proceed, inner) => {
      const found = await inner.get(id);
      if (found === undefined) return false;
      guard?.(found);
      await elsewhere();
      return proceed();
    }),
  },
  {
    fault: 'looks for the claim, and makes the record a moment later',
    breaks: 'posts: of 20 creations under one claim',
    plan: inBoth((inner) => ({
      create: async (record, claim) => {
        const earlier = claim && (await inner.replay(claim));
        if (earlier) return { stored: earlier, replayed: true };
        await elsewhere();
        const creation = await inner.create(record, claim);
        return creation.replayed ? inner.create(record) : creation;
      },
    })),
  },
  {
    fault: 'tells a repeat that its own email address is taken',
    breaks: 'of 20 repeats of one request, none finds',
    plan: {
      users: (inner) => ({
        create: async (record, claim) => {
          const earlier = claim && (await inner.replay(claim));
          if (earlier) return { stored: earlier, replayed: true };
          await elsewhere();
          const creation = await inner.create(record, claim);
          if (creation.replayed) throw emailTaken();
          return creation;
        },
      }),
    },
  },
  {
    fault: 'refuses all who wait for a key when one of them fails',
    breaks: 'of racing creations under one key, one that fails',
    plan: {
      posts: (inner) => {
        const failed = new Set<string>();
        return {
          create: async (record, claim) => {
            await elsewhere();
            if (claim && failed.has(claim.key)) throw idempotencyKeyReused();
            return inner.create(record, claim).catch((error) => {
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
    breaks: 'users: of creations under one key for different requests',
    plan: inBoth((inner) => ({
      create: (record, claim) =>
        inner.create(record, claim).catch((error) => {
          if (!isRostrumError(error, 'idempotency-key-reused')) throw error;
          return inner.create(record);
        }),
    })),
  },
  {
    fault: 'writes a change in two steps',
    breaks: 'posts: a reader never sees half of a change',
    plan: inBoth((inner) => ({
      update: async (id, decide) => {
        await inner.update(id, (current) => ({ ...decide(current), b: current.record.b ?? null }));
        await elsewhere();
        return inner.update(id, decide);
      },
    })),
  },
  {
    fault: 'looks for the email address, and writes a moment later',
    breaks: 'of 50 creations with one email address, one wins',
    plan: {
      users: (inner) => ({
        create: (record, claim) =>
          inner.create(record, claim).catch((error) => {
            if (!isRostrumError(error, 'email-taken')) throw error;
            return inner.create({ ...record, email: null }, claim);
          }),
      }),
    },
  },
  {
    fault: 'looks for the email address of a changed user, and writes a moment later',
    breaks: 'of 20 users who move to one email address, one wins',
    plan: twoWithOneEmail(),
  },
  {
    fault: 'lets two users swap their addresses',
    breaks: 'two users cannot swap their addresses in one go',
    plan: twoWithOneEmail(),
  },
  {
    fault: 'gives a freed address to all who wait for it',
    breaks: 'an address that is freed in a race goes to one user at most',
    plan: {
      users: (inner) => ({
        create: async (record, claim) => {
          await elsewhere();
          return inner.create(record, claim).catch(async (error) => {
            if (!isRostrumError(error, 'email-taken')) throw error;
            return inner.create({ ...record, email: null }, claim);
          });
        },
      }),
    },
  },
];

function decideThenWrite() {
  return inBoth((inner) => ({
    update: async (id, decide) => {
      const current = await inner.get(id);
      if (current === undefined) return undefined;
      const next = decide(current);
      await elsewhere();
      return inner.update(id, () => next);
    },
  }));
}

function twoWithOneEmail(): Fault['plan'] {
  return {
    users: (inner) => ({
      update: (id, decide) =>
        inner.update(id, decide).catch((error) => {
          if (!isRostrumError(error, 'email-taken')) throw error;
          return inner.update(id, (current) => ({ ...decide(current), email: null }));
        }),
    }),
  };
}
