import { utf8Bytes } from '../../../src/domain/text.ts';
import {
  comparePositions,
  cutPage,
  type Entity,
  emailKey,
  type Position,
  type Receipt,
  textKey,
  type Versioned,
} from '../../../src/ports/index.ts';
import { type AnyFilter, allOf, type Fault, filtering, inBoth, type Plan } from './plant.ts';
import { positionOf } from './values.ts';

/** Only so much of a thing: of characters, receipts, posts, records, bits, bytes. */
export const limits: Fault[] = [
  ...[20, 255, 1000].map((length) => ({
    fault: `keeps ${length} characters of the key of a receipt`,
    breaks: 'a key is exact',
    says: /create\(.*\) ended in RostrumError: This idempotency key was used/,
    plan: onReceipts(({ key, ...rest }) => ({ ...rest, key: key.slice(0, length) })),
  })),
  ...[20, 199, 300].map((length) => ({
    fault: `compares ${length} characters of a name or a title`,
    breaks: 'name or title: the whole of it',
    says: /list of \{"(name|title)":"(x|\u{1d160}).*"\} is /u,
    plan: comparing((text) => text.slice(0, length), 'name', 'title'),
  })),
  ...[20, 199].map((length) => ({
    fault: `keeps ${length} characters of a name or a title`,
    breaks: 'fields come back as they were written, and as long as they may be',
    says: /what create returned, at \/(name|title), is|the record .*, at \/(name|title), is/,
    plan: inBoth((inner) => ({
      create: (record, receipt) => {
        const cut = (name: string) =>
          typeof record[name] === 'string' && { [name]: record[name].slice(0, length) };
        return inner.create({ ...record, ...cut('name'), ...cut('title') }, receipt);
      },
    })),
  })),
  ...[20, 1000].map((length) => ({
    fault: `compares ${length} characters of a custom field`,
    breaks: 'custom: a text, exactly',
    says: /list of {"custom":{"(city|language)":"x+[ab…]/,
    plan: comparing((text) => text.slice(0, length), 'custom'),
  })),
  {
    fault: 'compares a custom field that the other list has by its key',
    breaks: 'custom: a field that has the name of one of the other list',
    says: /list of {"custom":{"(title|email)":"Ada"}} is /,
    plan: comparing(textKey, 'custom'),
  },
  {
    fault: 'finds the beginnings of names and titles in 1,000 characters of their keys',
    breaks: 'what a name or title begins with',
    says: /list of \{"(name|title)StartsWith":"\u{1d160}+.*"\} is /u,
    plan: filtering(
      ({ name, title }, { nameStartsWith, titleStartsWith }) => {
        const [text, start] = [name ?? title, nameStartsWith ?? titleStartsWith].map((one) =>
          textKey(String(one)).slice(0, 1000),
        );
        return text?.startsWith(start ?? '') === true;
      },
      ...['nameStartsWith', 'titleStartsWith'],
    ),
  },
  {
    fault: 'takes no key of a name or a title that has more than 1,978 bytes',
    breaks: 'fields come back as they were written, and as long as they may be',
    says: /users\.create\(.*\) ended in RangeError: the key is too long/,
    plan: inBoth((inner) => ({
      create: async (record, receipt) => {
        const key = textKey(String(record.name ?? record.title));
        if (utf8Bytes(key) > 1978) throw new RangeError('the key is too long');
        return inner.create(record, receipt);
      },
    })),
  },
  ...[20, 1000].flatMap((length) =>
    ['name', 'title'].map((by) => ({
      fault: `sorts by ${length} characters of the key of a ${by}`,
      breaks: `by ${by}: keys by code point`,
      says: /walk in the order .*, at \/\d+, is ".*", where ".*" is right/,
      plan: sortingBy(({ key, id }) => ({ key: key?.slice(0, length) ?? null, id })),
    })),
  ),
  {
    fault: 'sorts by 4,000 bytes of the key of a title and the id behind it',
    breaks: 'by title: keys by code point',
    says: /walk in the order title .* is \[.*\], where \[.*\] is right/,
    plan: sortingBy(({ key, id }) => ({ key, id: id.slice(0, 4000 - utf8Bytes(key ?? '')) })),
  },
  ...[20, 1000].map((most) => ({
    fault: `keeps ${most} receipts`,
    breaks: 'a thousand posts, with their receipts',
    says: /the record under the key ".*" is |replayed of a repeat is false/,
    plan: inBoth((inner) => {
      const kept = new Set<string>();
      return {
        create: (record, receipt) => {
          kept.add(receipt?.key ?? '');
          const isDropped = receipt && ![...kept].slice(-most).includes(receipt.key);
          return inner.create(record, isDropped ? undefined : receipt);
        },
      };
    }),
  })),
  ...(['delete', 'keep'] as const).map((mode) => ({
    fault: `${mode}s the first 1,000 posts of a deleted user`,
    breaks: `${mode}: more than a thousand posts`,
    says: /posts that (are left|were kept) is \d+, where \d+ is right/,
    plan: {
      users: (inner, { posts }) => ({
        delete: async (id, how, at, guard) => {
          const { items } = await posts.list({
            ...{ filter: { authorId: id }, order: { by: 'createdAt', direction: 'asc' } },
            ...{ limit: 2000, bytes: 2 ** 30 },
          });
          for (const { record } of how === mode ? items.slice(1000) : []) {
            await posts.update(record.id, (now) => ({ ...now.record, authorId: null }));
          }
          const deletion = await inner.delete(id, how, at, guard);
          return deletion && { posts: items.length };
        },
      }),
    } satisfies Plan,
  })),
  {
    fault: 'scans on behind the limit',
    breaks: 'scan goes by id',
    says: /records of a scan, limit \d+, is \d+, where \d+ is right/,
    plan: { transfer: (inner) => ({ scan: (asked) => inner.scan({ ...asked, limit: 1000 }) }) },
  },
  {
    fault: 'keeps 31 bits of a version',
    breaks: 'load stores hundreds of records as they are',
    says: /version of .* is -?\d+, where \d+ is right/,
    plan: {
      transfer: (inner) => ({
        load: (records) =>
          inner.load(
            records.map(({ record, version, json }) => ({ record, json, version: version | 0 })),
          ),
      }),
    },
  },
  {
    fault: 'reads every record for a page',
    breaks: 'a page reads no more than eight times its bytes',
    says: /bytes of records were read for a page of \d+/,
    plan: inBoth((inner) => ({
      list: async (request) => {
        await allOf(inner);
        return inner.list(request);
      },
    })),
  },
];

const wellFormed = (text: string) => text.toWellFormed();

/** Half of a surrogate pair that comes out of a driver as U+FFFD. */
export const surrogates: Fault[] = [
  {
    fault: 'takes half of a surrogate pair in the key of a receipt for U+FFFD',
    breaks: 'a key is exact',
    says: /create\(.*\) ended in RostrumError: This idempotency key was used/,
    plan: onReceipts(({ key, ...rest }) => ({ ...rest, key: wellFormed(key) })),
  },
  {
    fault: 'takes half of a surrogate pair in a name or a title for U+FFFD',
    breaks: 'name or title: the whole of it',
    says: /list of {"(name|title)":"Ada\\ud800"} is \["/,
    plan: comparing(wellFormed, 'name', 'title'),
  },
  {
    fault: 'takes half of a surrogate pair in a custom field for U+FFFD',
    breaks: 'custom: a text, exactly',
    says: /list of {"custom":{".*":"Ada\\ud800"}} is \["/,
    plan: comparing(wellFormed, 'custom'),
  },
  {
    fault: 'takes half of a surrogate pair in an address for U+FFFD',
    breaks: 'users: email: an address with the same key',
    says: /list of {"email":".*\\ud800"} is \["/,
    plan: comparing((text) => emailKey(wellFormed(text)), 'email'),
  },
  {
    fault: 'takes half of a surrogate pair in the id that a scan begins behind for U+FFFD',
    breaks: 'scan begins behind an id',
    says: /scan behind ".*\\ud800" is \["/,
    plan: {
      transfer: (inner) => ({
        scan: ({ after, ...asked }) => inner.scan({ ...asked, after: after?.toWellFormed() }),
      }),
    },
  },
];

function onReceipts(change: (receipt: Receipt) => Receipt): Plan {
  return inBoth((inner) => ({
    create: (record, receipt) => inner.create(record, receipt && change(receipt)),
  }));
}

/** Compares texts that a filter names, at its top or in `custom`, by what is made of them. */
function comparing(made: (text: string) => string, ...members: readonly string[]): Plan {
  const textOf = (value: unknown) => (typeof value === 'string' ? made(value) : value);
  return filtering(
    (record, filter: AnyFilter) => {
      const { custom, ...rest } = filter;
      const asked = members.includes('custom') ? custom : rest;
      return Object.entries(asked ?? {})
        .filter(([name]) => asked === custom || members.includes(name))
        .every(([name, value]) => textOf(record[name]) === textOf(value));
    },
    ...members,
  );
}

function sortingBy(cutting: (position: Position) => Position): Plan {
  return inBoth((inner) => ({
    list: async (request) => {
      const { by, direction } = request.order;
      if (by !== 'name' && by !== 'title') return inner.list(request);
      const sign = direction === 'asc' ? 1 : -1;
      const cut = ({ record }: Versioned<Entity>) => cutting(positionOf(record, by));
      const whole = { ...request, after: undefined, limit: 1000, bytes: 2 ** 30 };
      const { items, ...page } = await inner.list(whole);
      const sorted = items.toSorted((a, b) => sign * comparePositions(cut(a), cut(b)));
      const { after } = request;
      const rest = sorted.filter((one) => !after || sign * comparePositions(cut(one), after) > 0);
      return { ...page, next: undefined, ...cutPage(rest, request, cut) };
    },
  }));
}
