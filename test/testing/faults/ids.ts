import {
  type Id,
  type Post,
  RostrumError,
  type UserRepository,
  withoutAuthor,
} from '../../../src/ports/index.ts';
import { idsOf, recordsOf } from '../../../src/testing/lists.ts';
import { allOf, type Fault, filtering, inBoth, type Plan } from './plant.ts';

type IsLike = (known: Id, asked: Id) => boolean;

/** How a store takes an id for another one that is there. */
const likenesses: Readonly<Record<string, IsLike>> = {
  'without case': (known, asked) => known.toLowerCase() === asked.toLowerCase(),
  'by prefix': (known, asked) => asked !== '' && known.startsWith(asked),
  'by 1,000 characters': (known, asked) => known.slice(0, 1000) === asked.slice(0, 1000),
  'with half of a surrogate pair as U+FFFD': (known, asked) => known === asked.toWellFormed(),
};

/** The id that is meant: the very one, if it is there, else one that is like it. */
async function meant(records: object, asked: Id, isLike: IsLike): Promise<Id> {
  const known = idsOf(recordsOf(await allOf(records)));
  return known.includes(asked) ? asked : (known.find((one) => isLike(one, asked)) ?? asked);
}

interface Call extends Omit<Fault, 'fault' | 'plan'> {
  readonly plan: (isLike: IsLike) => Plan;
}

const unknown = 'an id that names nothing, in every method';
const unknownAuthor = 'a user who is not there is no author';

/** What is done by an id, and the tests that have to see that it is taken for another one. */
const calls: Readonly<Record<string, Call>> = {
  'gets records': {
    breaks: unknown,
    says: /the record ".* is there/,
    plan: (isLike) =>
      inBoth((inner) => ({ get: async (id) => inner.get(await meant(inner, id, isLike)) })),
  },
  'changes records': {
    breaks: unknown,
    says: /a decision was called, though no record has the id/,
    plan: (isLike) =>
      inBoth((inner) => ({
        update: async (id, decide) => inner.update(await meant(inner, id, isLike), decide),
      })),
  },
  'deletes records': {
    breaks: unknown,
    says: /delete of the id ".* is true, where false is right/,
    plan: (isLike) => ({
      users: (inner) => ({
        delete: async (id, ...rest) => inner.delete(await meant(inner, id, isLike), ...rest),
      }),
      posts: (inner) => ({
        delete: async (id, guard) => inner.delete(await meant(inner, id, isLike), guard),
      }),
    }),
  },
  'looks for taken ids': {
    breaks: unknown,
    says: /isIdTaken of the id ".* is true, where false is right/,
    plan: (isLike) =>
      inBoth((inner) => ({
        isIdTaken: async (id) => inner.isIdTaken(await meant(inner, id, isLike)),
      })),
  },
  'filters by ids': {
    breaks: unknown,
    says: /list of {"ids":\[.* is \[".*, where \[\] is right/,
    plan: (isLike) =>
      filtering(({ id }, { ids }) => ids?.some((one) => isLike(id, one)) === true, 'ids'),
  },
  'filters by authors': {
    breaks: unknownAuthor,
    says: /list of {"authorId":".* is \[".*, where \[\] is right/,
    plan: (isLike) =>
      filtering(({ authorId: known }, { authorId: asked }) => {
        return known === asked || isLike(String(known), String(asked));
      }, 'authorId'),
  },
  'looks for authors': {
    breaks: unknownAuthor,
    says: /a call returned that has to end in invalid-record/,
    plan: (isLike) => ({
      posts: (inner, { users }) => ({
        create: async (post, receipt) => {
          const { authorId } = post;
          const author = authorId === null ? null : await meant(users, authorId, isLike);
          return inner.create({ ...post, authorId: author }, receipt);
        },
      }),
    }),
  },
  'looks for the posts of a deleted user': {
    breaks: 'users whose ids only look alike have their own posts',
    says: /posts that (were told|are left after user \d+).* is /,
    plan: (isLike) => ({
      users: (inner, { posts }) => ({ delete: cascade(inner, posts, isLike) }),
    }),
  },
};

function cascade(
  users: UserRepository,
  posts: Parameters<NonNullable<Plan['posts']>>[0],
  isLike: IsLike,
): UserRepository['delete'] {
  return async (id, mode, at, guard) => {
    const others = recordsOf(await allOf<Post>(posts)).filter(
      ({ authorId }) => authorId !== null && authorId !== id && isLike(authorId, id),
    );
    if (mode === 'refuse' && others.length > 0) {
      throw new RostrumError('user-has-posts', { posts: others.length });
    }
    const deletion = await users.delete(id, mode, at, guard);
    for (const other of deletion ? others : []) {
      if (mode === 'delete') await posts.delete(other.id);
      else await posts.update(other.id, ({ record }) => withoutAuthor(record, at));
    }
    return deletion;
  };
}

/** No record has half of a surrogate pair in it: so none names such an author. */
const isOne = (how: string, call: string): boolean =>
  !how.includes('surrogate') || !/looks for (authors|the posts)/.test(call);

export const ids: Fault[] = Object.entries(likenesses).flatMap(([how, isLike]) =>
  Object.entries(calls)
    .filter(([call]) => isOne(how, call))
    .map(([call, { breaks, says, plan }]) => ({
      fault: `${call} by ids that it compares ${how}`,
      breaks,
      ...(says && { says }),
      plan: plan(isLike),
    })),
);
