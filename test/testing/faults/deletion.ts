import { type Fault, inBoth, inDeletions } from './plant.ts';

export const deletion: Fault[] = [
  {
    fault: 'deletes what is gone once more',
    breaks: 'users: what is deleted is gone, once',
    plan: inDeletions(async (_id, guard, proceed) => {
      await proceed(guard);
      return true;
    }),
  },
  {
    fault: 'says so and deletes nothing',
    breaks: 'posts: what is deleted is gone, once',
    plan: inDeletions(async (id, guard, _proceed, inner) => {
      const current = await inner.get(id);
      if (current) guard?.(current);
      return current !== undefined;
    }),
  },
  {
    fault: 'counts what was deleted',
    breaks: 'posts: what is deleted is gone, once',
    plan: inBoth((inner) => {
      let made = 0;
      return {
        create: (record, claim) => {
          made++;
          return inner.create(record, claim);
        },
        list: async (filter, page) => ({ ...(await inner.list(filter, page)), total: made }),
      };
    }),
  },
  {
    fault: 'asks a guard about a record that is not there',
    breaks: 'users: an id that names nothing is false',
    plan: inDeletions(async (id, guard, proceed, inner) => {
      if ((await inner.get(id)) === undefined) guard?.({ record: {} as never, version: 0 });
      return proceed(guard);
    }),
  },
  {
    fault: 'raises for an id that names nothing',
    breaks: 'posts: an id that names nothing is false',
    plan: inDeletions(async (id, guard, proceed, inner) => {
      if ((await inner.get(id)) === undefined) throw new RangeError('no such record');
      return proceed(guard);
    }),
  },
  {
    fault: 'shows a guard the first version',
    breaks: 'posts: a guard is shown the record and the version',
    plan: inDeletions((_id, guard, proceed) =>
      proceed(guard && (({ record }) => guard({ record, version: 1 }))),
    ),
  },
  {
    fault: 'does not ask the guard',
    breaks: 'users: what a guard throws ends the call',
    plan: inDeletions((_id, _guard, proceed) => proceed()),
  },
  {
    fault: 'takes a guard’s refusal for absence',
    breaks: 'posts: what a guard throws ends the call',
    plan: inDeletions((_id, guard, proceed) => proceed(guard).catch(() => false)),
  },
  {
    fault: 'deletes first and asks the guard then',
    breaks: 'users: what a guard throws ends the call',
    plan: inDeletions(async (id, guard, proceed, inner) => {
      const current = await inner.get(id);
      const deleted = await proceed();
      if (current) guard?.(current);
      return deleted;
    }),
  },
  {
    fault: 'deletes all posts of the author with one',
    breaks: 'a deleted post leaves its author and the author’s other posts',
    plan: {
      posts: (inner) => ({
        delete: async (id, guard) => {
          const authorId = (await inner.get(id))?.record.authorId;
          const order = { by: 'createdAt', direction: 'asc' } as const;
          const deleted = await inner.delete(id, guard);
          const { items } = await inner.list({ authorId }, { order, limit: 1000 });
          if (authorId) for (const { record } of items) await inner.delete(record.id);
          return deleted;
        },
      }),
    },
  },
];
