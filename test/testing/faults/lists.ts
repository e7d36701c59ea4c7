import { emailKey } from '../../../src/domain/email.ts';
import { addMs } from '../../../src/domain/instant.ts';
import { compareText } from '../../../src/domain/text.ts';
import { type Fault, inBoth } from './plant.ts';
import { allOf, compareKeys, filteredBy, keyOf, matchedBy, placeOf, sortedBy } from './relist.ts';

const sign = (direction: 'asc' | 'desc') => (direction === 'asc' ? 1 : -1);
const utf16 = (a: string | null, b: string | null) =>
  a === null || b === null ? compareKeys(a, b) : a < b ? -1 : Number(a > b);

export const orders: Fault[] = [
  {
    fault: 'sorts names by UTF-16 unit',
    breaks: 'names sort by code point, asc',
    plan: sortedBy((a, b, d) => sign(d) * (utf16(a.key, b.key) || compareText(a.id, b.id))),
  },
  {
    fault: 'sorts titles as a dictionary does',
    breaks: 'titles sort by code point, desc',
    plan: sortedBy(
      (a, b, d) => sign(d) * ((a.key ?? '').localeCompare(b.key ?? '') || compareText(a.id, b.id)),
    ),
  },
  {
    fault: 'sorts email addresses as they were written',
    breaks: 'emails sort by key and code point, a missing one before all, asc',
    plan: sortedBy(
      (a, b, d) => sign(d) * (compareKeys(a.key, b.key) || compareText(a.id, b.id)),
      (record, by) => (by === 'email' ? (record.email as string | null) : keyOf(record, by)),
    ),
  },
  {
    fault: 'puts a missing email last in either direction',
    breaks: 'emails sort by key and code point, a missing one before all, asc',
    plan: sortedBy((a, b, d) => {
      if ((a.key === null) !== (b.key === null)) return a.key === null ? 1 : -1;
      return sign(d) * (compareKeys(a.key, b.key) || compareText(a.id, b.id));
    }),
  },
  {
    fault: 'puts a missing email first in either direction',
    breaks: 'users by email desc, ties by id',
    plan: sortedBy((a, b, d) => {
      if ((a.key === null) !== (b.key === null)) return a.key === null ? -1 : 1;
      return sign(d) * (compareKeys(a.key, b.key) || compareText(a.id, b.id));
    }),
  },
  {
    fault: 'breaks ties by ascending id in either direction',
    breaks: 'posts by title desc, ties by id',
    plan: sortedBy((a, b, d) => sign(d) * compareKeys(a.key, b.key) || compareText(a.id, b.id)),
  },
  {
    fault: 'breaks ties by UTF-16 unit',
    breaks: 'ids break ties by code point, asc',
    plan: sortedBy((a, b, d) => sign(d) * (compareKeys(a.key, b.key) || utf16(a.id, b.id))),
  },
  {
    fault: 'leaves ties as they were stored',
    breaks: 'users by createdAt asc, ties by id',
    plan: inBoth((inner) => {
      const stored: string[] = [];
      return {
        create: (record, claim) => {
          stored.push(record.id);
          return inner.create(record, claim);
        },
        list: async (filter, page) => {
          const turn = sign(page.order.direction);
          const items = (await allOf(inner, filter, page)).toSorted((a, b) => {
            const [x, y] = [placeOf(a.record, page.order), placeOf(b.record, page.order)];
            return turn * compareKeys(x.key, y.key) || stored.indexOf(x.id) - stored.indexOf(y.id);
          });
          return { items };
        },
      };
    }),
  },
  {
    fault: 'sorts by createdAt whatever was asked for',
    breaks: 'posts by updatedAt asc',
    plan: inBoth((inner) => ({
      list: (filter, page) =>
        inner.list(filter, { ...page, order: { ...page.order, by: 'createdAt' } }),
    })),
  },
];

export const filters: Fault[] = [
  {
    fault: 'has the end of a span in it',
    breaks: 'users: a span of createdAt',
    plan: filteredBy((filter) => {
      const before = filter.createdAt?.before;
      return before === undefined
        ? filter
        : { ...filter, createdAt: { ...filter.createdAt, before: addMs(before, 1) } };
    }),
  },
  {
    fault: 'leaves the beginning of a span out',
    breaks: 'posts: a span of updatedAt',
    plan: filteredBy((filter) => {
      const from = filter.updatedAt?.from;
      return from === undefined
        ? filter
        : { ...filter, updatedAt: { ...filter.updatedAt, from: addMs(from, 1) } };
    }),
  },
  {
    fault: 'takes one span for both fields',
    breaks: 'users: createdAt and updatedAt are two fields',
    plan: filteredBy((filter) => ({ ...filter, updatedAt: filter.createdAt })),
  },
  {
    fault: 'takes an empty list of ids for no filter',
    breaks: 'posts: an empty list of ids matches nothing',
    plan: filteredBy(({ ids, ...rest }) => (ids?.length === 0 ? rest : { ...rest, ids })),
  },
  {
    fault: 'finds a record as often as its id is named',
    breaks: 'users: ids: any of these',
    plan: inBoth((inner) => ({
      list: async (filter, page) => {
        const got = await inner.list(filter, page);
        const times = (id: string) => filter.ids?.filter((one) => one === id).length ?? 1;
        return {
          ...got,
          items: got.items.flatMap((item) => Array(times(item.record.id)).fill(item)),
        };
      },
    })),
  },
  {
    fault: 'looks for no more than ten ids',
    breaks: 'posts: ids: any of these',
    plan: filteredBy(({ ids, ...rest }) => ({ ...rest, ids: ids?.slice(0, 10) })),
  },
  {
    fault: 'takes a filter that is not said for a missing value',
    breaks: 'users: a filter that says nothing matches all',
    plan: filteredBy((filter) =>
      'ids' in filter && filter.ids === undefined ? { ...filter, ids: [] } : filter,
    ),
  },
  {
    fault: 'finds names in any case',
    breaks: 'users: name: the whole name, exactly',
    plan: matchedBy(
      (record, { name }) =>
        name === undefined || String(record.name).toLowerCase() === String(name).toLowerCase(),
    ),
  },
  {
    fault: 'finds titles that begin so',
    breaks: 'posts: title: the whole title, exactly',
    plan: matchedBy(
      (record, { title }) => title === undefined || String(record.title).startsWith(String(title)),
    ),
  },
  {
    fault: 'finds an email address only as it was written',
    breaks: 'users: email: an address with the same key',
    plan: matchedBy((record, { email }) => email === undefined || record.email === email),
  },
  {
    fault: 'takes the filter for posts of nobody for none',
    breaks: 'posts: authorId: the posts of one author, or of nobody',
    plan: matchedBy(
      (record, { authorId }) =>
        (authorId ?? undefined) === undefined || record.authorId === authorId,
    ),
  },
  {
    fault: 'finds a post by its first author',
    breaks: 'posts: the filter by author follows a post that moves',
    plan: {
      posts: (inner) => {
        const first = new Map<string, string | null>();
        return {
          create: (record, claim) => {
            first.set(record.id, record.authorId);
            return inner.create(record, claim);
          },
          list: async ({ authorId, ...filter }, page) => {
            const got = await inner.list(filter, page);
            const items = got.items.filter(
              ({ record }) => authorId === undefined || first.get(record.id) === authorId,
            );
            return { ...got, items };
          },
        };
      },
    },
  },
  {
    fault: 'finds and sorts a user by the name at first',
    breaks: 'users: filters and orders follow a user who changes',
    plan: remembering('name'),
  },
  {
    fault: 'finds and sorts a post by the title at first',
    breaks: 'posts: filters and orders follow a post that changes',
    plan: remembering('title'),
  },
  {
    fault: 'finds a kept post by the author who is gone',
    breaks: 'posts: filters and orders follow posts whose author is deleted',
    plan: remembering('authorId'),
  },
  {
    fault: 'lets one of several filters be enough for users',
    breaks: 'users: all that a filter says must hold',
    plan: matchedBy(anyOf),
  },
  {
    fault: 'lets one of several filters be enough for posts',
    breaks: 'posts: all that a filter says must hold',
    plan: matchedBy(anyOf),
  },
];

function anyOf(
  record: { readonly [field: string]: unknown },
  { name, title, authorId, email }: Readonly<Record<string, unknown>>,
): boolean {
  const checks: boolean[] = [];
  if (name !== undefined) checks.push(record.name === name);
  if (title !== undefined) checks.push(record.title === title);
  if (authorId !== undefined) checks.push(record.authorId === authorId);
  if (email !== undefined) checks.push(emailKey(String(record.email)) === emailKey(String(email)));
  return checks.length === 0 || checks.includes(true);
}

/** Lists by a field as it was when the record was made. */
function remembering(field: string): Fault['plan'] {
  return inBoth((inner) => {
    const first = new Map<string, unknown>();
    return {
      create: (record, claim) => {
        first.set(record.id, record[field]);
        return inner.create(record, claim);
      },
      list: async (filter, page) => {
        const wanted = (filter as Readonly<Record<string, unknown>>)[field];
        const got = await inner.list({ ...filter, [field]: undefined }, page);
        const items = got.items.filter(
          ({ record }) => wanted === undefined || first.get(record.id) === wanted,
        );
        return { ...got, items, total: items.length };
      },
    };
  });
}
