import { emailTaken, idTaken, unknownAuthor } from '../../../src/domain/errors.ts';
import { type Fault, inBoth } from './plant.ts';

export const creation: Fault[] = [
  {
    fault: 'counts versions from 0',
    breaks: 'users: a new record is at version 1',
    plan: inBoth((inner) => ({
      create: async (record, claim) => {
        const { stored, ...rest } = await inner.create(record, claim);
        return { ...rest, stored: { ...stored, version: stored.version - 1 } };
      },
    })),
  },
  {
    fault: 'replaces a record whose id is taken',
    breaks: 'posts: a taken id is refused',
    plan: inBoth((inner) => ({
      create: async (record, claim) => {
        const stored = await inner.update(record.id, () => record);
        return stored ? { stored, replayed: false } : inner.create(record, claim);
      },
    })),
  },
  {
    fault: 'tells of a taken email before a taken id',
    breaks: 'users: of an id and an email that are taken',
    plan: {
      users: (inner) => ({
        create: async (record, claim) => {
          const order = { by: 'createdAt', direction: 'asc' } as const;
          const { items } = await inner.list({ email: record.email ?? '' }, { order, limit: 1 });
          if (items.length > 0) throw emailTaken();
          return inner.create(record, claim);
        },
      }),
    },
  },
  {
    fault: 'tells of an unknown author before a taken id',
    breaks: 'posts: of a taken id and an unknown author',
    plan: {
      posts: (inner, { users }) => ({
        create: async (record, claim) => {
          const { authorId } = record;
          if (authorId !== null && !(await users.get(authorId))) throw unknownAuthor();
          return inner.create(record, claim);
        },
      }),
    },
  },
  {
    fault: 'takes equal requests for one without a claim',
    breaks: 'users: a record without a claim is made anew',
    plan: inBoth((inner) => ({
      create: (record, claim) => {
        const same = { key: 'same', fingerprint: '', from: '2100', until: '2200' };
        return inner.create(record, claim ?? (record.same ? same : undefined));
      },
    })),
  },
  {
    fault: 'never gives an id again',
    breaks: 'posts: a deleted record’s id may be used again',
    plan: inBoth((inner) => {
      const used = new Set<string>();
      return {
        create: async (record, claim) => {
          if (used.has(record.id)) throw idTaken(record.id);
          const creation = await inner.create(record, claim);
          used.add(record.id);
          return creation;
        },
      };
    }),
  },
  {
    fault: 'has one space of ids for users and posts',
    breaks: 'a user and a post may have the same id',
    plan: {
      posts: (inner, { users }) => ({
        create: async (record, claim) => {
          if (await users.get(record.id)) throw idTaken(record.id);
          return inner.create(record, claim);
        },
      }),
    },
  },
];
