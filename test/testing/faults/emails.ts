import { emailKey } from '../../../src/domain/email.ts';
import { emailTaken } from '../../../src/domain/errors.ts';
import type { Versioned } from '../../../src/domain/record.ts';
import type { User } from '../../../src/domain/user.ts';
import type { Fault, Plan } from './plant.ts';

export const emails: Fault[] = [
  {
    fault: 'tells addresses apart by case',
    breaks: 'ada@example.com and ADA@Example.Com are one address',
    plan: uniqueBy((email) => email.normalize('NFC')),
  },
  {
    fault: 'knows the lower case of ASCII alone',
    breaks: '\\u{e9}va@example.com and \\u{c9}VA@example.com are one address',
    plan: uniqueBy((email) =>
      email.normalize('NFC').replace(/[A-Z]/g, (char) => char.toLowerCase()),
    ),
  },
  {
    fault: 'brings addresses to no normal form',
    breaks: '\\u{e9}va@example.com and e\\u{301}va@example.com are one address',
    plan: uniqueBy((email) => email.toLowerCase()),
  },
  {
    fault: 'compares addresses by a collation without accents',
    breaks: 'addresses that only look alike are different',
    plan: uniqueBy((email) => emailKey(email).normalize('NFD').replace(/\p{M}/gu, '')),
  },
  {
    fault: 'compares addresses as patterns',
    breaks: 'addresses that only look alike are different',
    plan: uniqueBy((email) => emailKey(email).replace(/[_.%]/g, '_')),
  },
  {
    fault: 'takes a missing address for a value',
    breaks: 'any number of users may have no address',
    plan: {
      users: (inner) => {
        let nobody: string | undefined;
        return {
          create: async (record, claim) => {
            if (record.email === null) {
              if (nobody !== undefined) throw emailTaken();
              nobody = record.id;
            }
            return inner.create(record, claim);
          },
        };
      },
    },
  },
  {
    fault: 'takes a user’s own address for another’s',
    breaks: 'a user may be changed and keep the address',
    plan: {
      users: (inner) => ({
        update: (id, decide) =>
          inner.update(id, (current) => {
            const next = decide(current);
            if (next.email !== null && next.email === current.record.email) throw emailTaken();
            return next;
          }),
      }),
    },
  },
  {
    fault: 'writes the record before it finds the address taken',
    breaks: 'a creation that meets a taken address writes nothing',
    plan: {
      users: (inner) => ({
        create: (record, claim) =>
          inner.create(record, claim).catch(async (error) => {
            await inner.create({ ...record, email: null });
            throw error;
          }),
      }),
    },
  },
  {
    fault: 'keeps an address for the user who gave it up',
    breaks: 'an address that a user gave up is free',
    plan: keepingTaken('update'),
  },
  {
    fault: 'does not free the address that a user moved away from',
    breaks: 'an address that a user moved to is taken, and the old one is free',
    plan: keepingTaken('update'),
  },
  {
    fault: 'keeps the address of a deleted user as long as a claim does',
    breaks: 'a deleted user’s address is free',
    plan: keepingTaken('delete'),
  },
];

/** The addresses of the memory store are hidden behind keys of the fault’s own making. */
function uniqueBy(key: (email: string) => string): Plan {
  const hide = (user: User): User =>
    user.email === null
      ? user
      : { ...user, email: Buffer.from(key(user.email)).toString('hex'), written: user.email };
  const show = (user: User): User => {
    const { written, ...rest } = user;
    return typeof written === 'string' ? ({ ...rest, email: written } as User) : user;
  };
  const shown = ({ record, version }: Versioned<User>) => ({ record: show(record), version });
  return {
    users: (inner) => ({
      get: async (id) => {
        const got = await inner.get(id);
        return got && shown(got);
      },
      create: async (record, claim) => {
        const { stored, replayed } = await inner.create(hide(record), claim);
        return { stored: shown(stored), replayed };
      },
      update: async (id, decide) => {
        const stored = await inner.update(id, (current) => hide(decide(shown(current))));
        return stored && shown(stored);
      },
    }),
  };
}

/** Addresses stay taken after a change or a deletion. */
function keepingTaken(after: 'update' | 'delete'): Plan {
  return {
    users: (inner) => {
      const kept = new Map<string | null, string>();
      const check = ({ email, id }: User) => {
        const owner = email === null ? undefined : kept.get(email);
        if (owner !== undefined && owner !== id) throw emailTaken();
      };
      return {
        create: async (record, claim) => {
          check(record);
          const creation = await inner.create(record, claim);
          kept.set(record.email, record.id);
          return creation;
        },
        delete: async (...args) => {
          if (after === 'update') {
            for (const [email, id] of kept) if (id === args[0]) kept.delete(email);
          }
          return inner.delete(...args);
        },
      };
    },
  };
}
