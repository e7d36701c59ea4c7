import { isRostrumError } from '../../../src/domain/errors.ts';
import type { Versioned } from '../../../src/domain/record.ts';
import { elsewhere, type Fault, inBoth } from './plant.ts';

export const moves: Fault[] = [
  {
    fault: 'scans by UTF-16 unit',
    breaks: 'users: scan goes by id in the order of code points',
    plan: inBoth((inner) => ({
      scan: async (limit, after) =>
        (await inner.scan(1000))
          .toSorted((a, b) => (a.record.id < b.record.id ? -1 : 1))
          .filter(({ record }) => after === undefined || record.id > after)
          .slice(0, limit),
    })),
  },
  {
    fault: 'scans records at version 1',
    breaks: 'posts: scan shows each record and version',
    plan: inBoth((inner) => ({
      scan: async (...args) =>
        (await inner.scan(...args)).map(({ record }) => ({ record, version: 1 })),
    })),
  },
  {
    fault: 'needs the record that a scan ended with',
    breaks: 'users: scan begins behind an id',
    plan: inBoth((inner) => ({
      scan: async (limit, after) =>
        after !== undefined && !(await inner.get(after)) ? [] : inner.scan(limit, after),
    })),
  },
  {
    fault: 'scans by counting',
    breaks: 'posts: a scan meets once what is there throughout',
    plan: inBoth((inner) => {
      let offset = 0;
      return {
        scan: async (limit, after) => {
          offset = after === undefined ? 0 : offset;
          const records = (await inner.scan(1000)).slice(offset, offset + limit);
          offset += records.length;
          return records;
        },
      };
    }),
  },
  {
    fault: 'loads records at version 1',
    breaks: 'users: load stores records as they are',
    plan: inBoth((inner) => ({
      load: (records) => inner.load(records.map(({ record }) => ({ record, version: 1 }))),
    })),
  },
  {
    fault: 'loads no record over another',
    breaks: 'posts: load puts a record in the place',
    plan: inBoth((inner) => ({
      load: async (records) => {
        for (const one of records) if (!(await inner.get(one.record.id))) await inner.load([one]);
      },
    })),
  },
  {
    fault: 'counts a version on when a load is made again',
    breaks: 'users: load made again comes to the same',
    plan: inBoth((inner) => ({
      load: async (records) => {
        for (const { record, version } of records) {
          const there = (await inner.get(record.id))?.version;
          await inner.load([{ record, version: there === undefined ? version : there + 1 }]);
        }
      },
    })),
  },
  {
    fault: 'loads a hundred records at most',
    breaks: 'posts: load takes hundreds of records at once',
    plan: inBoth((inner) => ({ load: (records) => inner.load(records.slice(0, 100)) })),
  },
  {
    fault: 'forgets the claim of a record that is loaded over',
    breaks: 'users: load leaves claims as they are',
    plan: inBoth((inner) => {
      const loaded = new Set<string>();
      return {
        load: (records) => {
          for (const { record } of records) loaded.add(record.id);
          return inner.load(records);
        },
        replay: async (claim) => {
          const stored = await inner.replay(claim);
          return stored && loaded.has(stored.record.id) ? undefined : stored;
        },
      };
    }),
  },
  {
    fault: 'keeps the objects that it loads',
    breaks: 'posts: load and scan hand over values',
    plan: inBoth((inner) => {
      const kept = new Map<string, unknown>();
      return {
        load: (records) => {
          for (const { record } of records) kept.set(record.id, record);
          return inner.load(records);
        },
        scan: async (...args) =>
          (await inner.scan(...args)).map(({ record, version }) => ({
            record: (kept.get(record.id) ?? record) as typeof record,
            version,
          })),
      };
    }),
  },
  {
    fault: 'does not look at the addresses that it loads',
    breaks: 'load: an address that another user has is refused',
    plan: {
      users: (inner) => ({
        load: (records) =>
          inner.load(records).catch((error) => {
            if (!isRostrumError(error, 'email-taken')) throw error;
          }),
      }),
    },
  },
  ...(['users', 'posts'] as const).map(
    (kind): Fault => ({
      fault: `takes a ${kind.slice(0, -1)} that was loaded for the one that it read before`,
      breaks: `${kind}: of loads and changes that race`,
      plan: inBoth((inner) => ({
        update: async (id, decide) => {
          const before = await inner.get(id);
          await elsewhere();
          return inner.update(id, (now) => decide(before?.version === now.version ? before : now));
        },
      })),
    }),
  ),
  {
    fault: 'looks at addresses when all is loaded',
    breaks: 'load: an address is free once it was given up, and not before',
    plan: {
      users: (inner) => ({
        load: (records) => {
          const first = (one: Versioned<{ email: string | null }>) =>
            Number(one.record.email !== null);
          return inner.load(records.toSorted((a, b) => first(a) - first(b)));
        },
      }),
    },
  },
  {
    fault: 'loads posts of unknown authors',
    breaks: 'load: a post that names an unknown author is refused',
    plan: {
      posts: (inner) => ({
        load: async (records) => {
          for (const { record, version } of records) {
            await inner
              .load([{ record, version }])
              .catch(() => inner.load([{ record: { ...record, authorId: null }, version }]));
          }
        },
      }),
    },
  },
];
