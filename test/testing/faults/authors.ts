import { isRostrumError, unknownAuthor } from '../../../src/domain/errors.ts';
import type { Fault } from './plant.ts';

export const authors: Fault[] = [
  {
    fault: 'makes posts of unknown authors',
    breaks: 'a new post that names an unknown author is refused',
    plan: {
      posts: (inner) => ({
        create: (record, claim) =>
          inner.create(record, claim).catch((error) => {
            if (!isRostrumError(error, 'invalid-record')) throw error;
            return inner.create({ ...record, authorId: null }, claim);
          }),
      }),
    },
  },
  {
    fault: 'refuses posts without an author',
    breaks: 'a post may name a user who exists, or nobody',
    plan: {
      posts: (inner) => ({
        create: async (record, claim) => {
          if (record.authorId === null) throw unknownAuthor();
          return inner.create(record, claim);
        },
      }),
    },
  },
  {
    fault: 'finds authors in any case',
    breaks: 'an author is named by the exact id',
    plan: {
      posts: (inner) => ({
        create: (record, claim) =>
          inner.create(record.authorId === 'ada' ? { ...record, authorId: 'Ada' } : record, claim),
      }),
    },
  },
  {
    fault: 'looks for authors among all records',
    breaks: 'a post is no author',
    plan: {
      posts: (inner) => ({
        create: async (record, claim) => {
          const found = record.authorId && (await inner.get(record.authorId));
          return inner.create(found ? { ...record, authorId: null } : record, claim);
        },
      }),
    },
  },
  {
    fault: 'remembers deleted users as authors',
    breaks: 'a deleted user is no author',
    plan: {
      users: (inner) => ({
        // They stay where posts look for them, and only the deleter is told otherwise.
        delete: async (id) => (await inner.get(id)) !== undefined,
      }),
    },
  },
  {
    fault: 'does not look at the author of a changed post',
    breaks: 'a change to an unknown author is refused',
    plan: {
      posts: (inner) => ({
        update: (id, decide) =>
          inner.update(id, decide).catch((error) => {
            if (!isRostrumError(error, 'invalid-record')) throw error;
            return inner.update(id, (current) => ({ ...decide(current), authorId: null }));
          }),
      }),
    },
  },
  {
    fault: 'never moves a post to another author',
    breaks: 'a post may move from author to author',
    plan: {
      posts: (inner) => ({
        update: (id, decide) =>
          inner.update(id, (current) => ({
            ...decide(current),
            authorId: current.record.authorId,
          })),
      }),
    },
  },
  {
    fault: 'finds an author taken by the post’s own former version',
    breaks: 'a post may be changed and keep its author',
    plan: {
      posts: (inner) => ({
        update: (id, decide) =>
          inner.update(id, (current) => {
            const next = decide(current);
            if (next.authorId !== null && next.authorId === current.record.authorId) {
              throw unknownAuthor();
            }
            return next;
          }),
      }),
    },
  },
];
