import {
  type CustomFilter,
  cutPage,
  type Entity,
  type EntityFilter,
  type Position,
  type Repository,
  type TimeSpan,
  textKey,
  type Versioned,
} from '../../../src/ports/index.ts';
import { type Fault, inBoth, type Plan } from './plant.ts';

/** Bugs of values that no other test of the suite would see. */
export const values: Fault[] = [
  {
    fault: 'forgets the ids of deleted records',
    breaks: 'that of a deleted record stays taken',
    plan: inBoth((inner) => ({
      isIdTaken: async (id) => (await inner.get(id)) !== undefined,
    })),
  },
  {
    fault: 'hands out the object of a cache that is checked by version',
    breaks: 'changing a returned record changes nothing else',
    plan: inBoth((inner) => {
      const cache = new Map<string, unknown>();
      return {
        get: async (id) => {
          const got = await inner.get(id);
          if (got === undefined) return undefined;
          const known = cache.get(id) as typeof got | undefined;
          if (known?.version === got.version) return known;
          cache.set(id, got);
          return got;
        },
      };
    }),
  },
  {
    fault: 'returns the record that a decision made, and no copy of it',
    breaks: 'changing what was handed in changes nothing',
    plan: inBoth((inner) => ({
      update: async (id, decide) => {
        let made: unknown;
        const stored = await inner.update(id, (current) => {
          const next = decide(current);
          made = next;
          return next;
        });
        return stored && lazily(stored, made as typeof stored.record);
      },
    })),
  },
  {
    fault: 'drops a NUL in the key of a position',
    breaks: 'a position may have any text as its key or id',
    plan: listing(({ after, ...request }) => ({
      ...request,
      after: after && { ...after, key: after.key?.replaceAll('\0', '') ?? null },
    })),
  },
  ...(['key', 'id'] as const).map((part) => ({
    fault: `takes half of a surrogate pair in the ${part} of a position for U+FFFD`,
    breaks: 'a position may have any text as its key or id',
    says: /page behind \[".*"\](, at \/\d+,)? is /,
    plan: listing(({ after, ...request }) => ({
      ...request,
      after: after && { ...after, [part]: after[part]?.toWellFormed() ?? null },
    })),
  })),
  {
    fault: 'keeps half of the bits of a number',
    breaks: 'custom: a number, to the last bit',
    plan: customListing((value) => (typeof value === 'number' ? Math.fround(value) : value)),
  },
  {
    fault: 'counts UTF-16 units as bytes',
    breaks: 'a page ends before it is over its bytes',
    plan: inBoth((inner) => ({
      list: async (request) => {
        const page = await inner.list({ ...request, bytes: 2 ** 30 });
        // As many characters, of one byte each.
        const measured = page.items.map(({ record, version, json }) => {
          return { record, version, json: 'x'.repeat(json.length) };
        });
        const position = ({ record }: Versioned<Entity>) => positionOf(record, request.order.by);
        const { items, ...rest } = cutPage(measured, request, position);
        return { ...page, ...rest, items: page.items.slice(0, items.length) };
      },
    })),
  },
  {
    fault: 'counts its way to a page',
    breaks: 'users by email asc: what stays is met once',
    plan: byOffset(),
  },
];

function lazily<R>(stored: Versioned<R>, record: R): Versioned<R> {
  return {
    version: stored.version,
    record,
    get json() {
      return JSON.stringify(record);
    },
  };
}

type Request = Parameters<
  Repository<unknown, Readonly<Record<string, TimeSpan>>, string>['list']
>[0];

function listing(change: (request: Request) => Request): Plan {
  return inBoth((inner) => ({
    list: async (request) => inner.list(change(request as never) as never),
  }));
}

/** @param change what becomes of each value that a custom field shall have */
function customListing(change: (value: CustomFilter[string]) => CustomFilter[string]): Plan {
  return listing((request) => {
    const custom = Object.entries((request.filter as EntityFilter).custom ?? {});
    const changed = Object.fromEntries(custom.map(([name, value]) => [name, change(value)]));
    return { ...request, filter: { ...request.filter, custom: changed } as never };
  });
}

function byOffset(): Plan {
  return inBoth((inner) => {
    let offset = 0;
    return {
      list: async (request) => {
        offset = request.after ? offset : 0;
        const { after, ...whole } = request;
        const all = (await inner.list({ ...whole, limit: 1000 })).items;
        const items = all.slice(offset, offset + request.limit);
        offset += items.length;
        const last = items.at(-1);
        const next = offset < all.length && last && positionOf(last.record, request.order.by);
        return { items, ...(next && { next }) };
      },
    };
  });
}

export function positionOf(record: Entity, by: string): Position {
  const value = record[by];
  const key = typeof value === 'string' ? value : null;
  const isText = ['email', 'name', 'title'].includes(by);
  return { key: isText && key !== null ? textKey(key) : key, id: record.id };
}
