import { type Fault, inBoth } from './plant.ts';
import { placeOf } from './relist.ts';

const least = '';
const most = '\u{10ffff}'.repeat(9);

export const pages: Fault[] = [
  {
    fault: 'promises a page behind the last one',
    breaks: 'users: next is absent exactly when no record follows',
    plan: inBoth((inner) => ({
      list: async (filter, page) => {
        const got = await inner.list(filter, page);
        const last = got.items.at(-1);
        const full = got.items.length === page.limit && last;
        return full ? { ...got, next: placeOf(last.record, page.order) } : got;
      },
    })),
  },
  {
    fault: 'promises nothing behind the first page',
    breaks: 'posts: next is absent exactly when no record follows',
    plan: inBoth((inner) => ({
      list: async (filter, page) => ({ ...(await inner.list(filter, page)), next: undefined }),
    })),
  },
  {
    fault: 'promises a page while any record follows that the filter leaves out',
    breaks: 'posts: next does not count records that the filter leaves out',
    plan: inBoth((inner) => ({
      list: async (filter, page) => {
        const got = await inner.list(filter, page);
        const last = got.items.at(-1);
        if (!last || got.next) return got;
        const next = placeOf(last.record, page.order);
        const rest = await inner.list({} as typeof filter, { ...page, after: next });
        return rest.items.length > 0 ? { ...got, next } : got;
      },
    })),
  },
  {
    fault: 'promises a place on an empty page',
    breaks: 'users: an empty list is one page without a next',
    plan: inBoth((inner) => ({
      list: async (filter, page) => {
        const got = await inner.list(filter, page);
        return got.items.length === 0 ? { ...got, next: { key: null, id: '' } } : got;
      },
    })),
  },
  {
    fault: 'loses records that tie with the last of a page',
    breaks: 'posts by createdAt: pages of any size',
    plan: inBoth((inner) => ({
      list: (filter, page) => {
        const id = page.order.direction === 'asc' ? most : least;
        return inner.list(filter, page.after ? { ...page, after: { ...page.after, id } } : page);
      },
    })),
  },
  {
    fault: 'shows all that tie with the last of a page again',
    breaks: 'users by name: pages of any size',
    plan: inBoth((inner) => ({
      list: (filter, page) => {
        // A list that does not come to an end would only take longer.
        if (page.limit < 4) return inner.list(filter, page);
        const id = page.order.direction === 'asc' ? least : most;
        return inner.list(filter, page.after ? { ...page, after: { ...page.after, id } } : page);
      },
    })),
  },
  {
    fault: 'loses the missing addresses behind the first page',
    breaks: 'users by email: pages of any size',
    plan: inBoth((inner) => ({
      list: (filter, page) => {
        const { after, order } = page;
        const lost = after?.key === null && order.direction === 'asc';
        return inner.list(filter, lost ? { ...page, after: { key: '', id: '' } } : page);
      },
    })),
  },
  {
    fault: 'needs the record that a page ended with',
    breaks: 'users: a page begins behind a place, whether or not a record is there, asc',
    plan: inBoth((inner) => ({
      list: async (filter, page) => {
        const { after, ...first } = page;
        return inner.list(filter, after && (await inner.get(after.id)) ? page : first);
      },
    })),
  },
  {
    fault: 'tells the place as it is written and not as it sorts',
    breaks: 'next is the sort key and the id',
    plan: {
      users: (inner) => ({
        list: async (filter, page) => {
          const got = await inner.list(filter, page);
          const last = got.items.at(-1)?.record;
          if (!got.next || !last || page.order.by !== 'email') return got;
          return { ...got, next: { key: last.email?.toUpperCase() ?? '', id: last.id } };
        },
      }),
    },
  },
  {
    fault: 'counts the page and not the list',
    breaks: 'posts: total counts all that the filter matches',
    plan: inBoth((inner) => ({
      list: async (filter, page) => {
        const got = await inner.list(filter, page);
        return page.total ? { ...got, total: got.items.length } : got;
      },
    })),
  },
  {
    fault: 'counts what is behind the place',
    breaks: 'users: total counts all that the filter matches',
    plan: inBoth((inner) => ({
      list: async (filter, page) => {
        const got = await inner.list(filter, page);
        const rest = await inner.list(filter, { ...page, limit: 1000 });
        return page.total ? { ...got, total: rest.items.length } : got;
      },
    })),
  },
  {
    fault: 'counts records that the filter leaves out',
    breaks: 'posts: total counts all that the filter matches',
    plan: inBoth((inner) => ({
      list: async (filter, page) => {
        const { total } = await inner.list({} as typeof filter, page);
        return { ...(await inner.list(filter, page)), total };
      },
    })),
  },
  {
    fault: 'counts unasked',
    breaks: 'users: there is no total when none was asked for',
    plan: inBoth((inner) => ({
      list: (filter, page) => inner.list(filter, { ...page, total: true }),
    })),
  },
  {
    fault: 'has no page of more than 500',
    breaks: 'a page may have a thousand records',
    plan: inBoth((inner) => ({
      list: (filter, page) => inner.list(filter, { ...page, limit: Math.min(page.limit, 500) }),
    })),
  },
  {
    fault: 'lists records as they were made',
    breaks: 'posts: a list shows each record at its present version',
    plan: inBoth((inner) => {
      const made = new Map<string, unknown>();
      return {
        create: async (record, claim) => {
          const creation = await inner.create(record, claim);
          made.set(record.id, structuredClone(creation.stored));
          return creation;
        },
        list: async (filter, page) => {
          const got = await inner.list(filter, page);
          const items = got.items.map((item) => made.get(item.record.id) as typeof item);
          return { ...got, items };
        },
      };
    }),
  },
];
