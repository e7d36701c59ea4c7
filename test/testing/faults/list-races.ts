import { type Fault, inBoth, type Plan } from './plant.ts';
import { allOf, placeOf } from './relist.ts';

export const listsUnderChange: Fault[] = [
  {
    fault: 'counts its way to a page (posts, asc)',
    breaks: 'posts by createdAt asc: what stays is met once',
    plan: byOffset(),
  },
  {
    fault: 'counts its way to a page (posts, desc)',
    breaks: 'posts by createdAt desc: what stays is met once',
    plan: byOffset(),
  },
  {
    fault: 'counts its way to a page (users, asc)',
    breaks: 'users by email asc: what stays is met once',
    plan: byOffset(),
  },
  {
    fault: 'counts its way to a page (users, desc)',
    breaks: 'users by email desc: what stays is met once',
    plan: byOffset(),
  },
  {
    fault: 'counts its way past records that moved ahead',
    breaks: 'what a change moves ahead',
    plan: byOffset(),
  },
  {
    fault: 'counts its way while others write',
    breaks: 'pages that are read while others write',
    plan: byOffset(),
  },
  {
    fault: 'ends a list whose last record was deleted',
    breaks: 'posts by createdAt asc: what stays is met once',
    plan: inBoth((inner) => ({
      list: async (filter, page) =>
        page.after && !(await inner.get(page.after.id)) ? { items: [] } : inner.list(filter, page),
    })),
  },
];

function byOffset(): Plan {
  return inBoth((inner) => {
    let offset = 0;
    return {
      list: async (filter, page) => {
        offset = page.after ? offset : 0;
        const all = await allOf(inner, filter, page);
        const items = all.slice(offset, offset + page.limit);
        offset += items.length;
        const last = items.at(-1);
        return {
          items,
          ...(offset < all.length && last && { next: placeOf(last.record, page.order) }),
        };
      },
    };
  });
}
