import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import type { CustomFilters, Store, StoreOptions, Versioned } from '../../../src/ports/index.ts';
import type { StoreContract } from '../../../src/testing/index.ts';
import { customFilters } from '../../../src/testing/suite.ts';
import { type Fault, handleOn, inBoth } from './plant.ts';

/** Data that several handles have, one after another or at the same time. */
const memories = new WeakMap<Store, Store>();

/** Every custom field that the suite filters by, now or after it has opened a store again. */
const everyFilter = ({ customFilters }: StoreOptions): CustomFilters => ({
  users: { ...customFilters?.users, team: 'text' },
  posts: { ...customFilters?.posts, team: 'text' },
});

/** Opens handles on the same data, each with the fault; `close` leaves the data to the next one. */
export function handlesWith(
  plan: Fault['plan'],
): Required<Pick<StoreContract, 'open' | 'another' | 'reopen'>> {
  const handle = (memory: Store | undefined, { customFilters }: StoreOptions) => {
    const store = handleOn({ ...(memory as Store), customFilters, close: async () => {} }, plan);
    memories.set(store, memory as Store);
    return store;
  };
  return {
    open: (options) => handle(createMemoryStore({ customFilters: everyFilter(options) }), options),
    another: (store, options) => handle(memories.get(store), options),
    reopen: (store, options) => handle(memories.get(store), options),
  };
}

/** What a handle keeps for itself, though others have the same data. */
export const handles: Fault[] = [
  ...(['and offers its filters', 'filters on other custom fields'] as const).map((breaks) => ({
    fault: 'does not say which filters it was opened with',
    breaks,
    says: /customFilters, which the core .*, is undefined, where {"users":.*} is right/,
    plan: { customFilters: undefined },
  })),
  {
    fault: 'says after a restart that it has the filters of before',
    breaks: 'filters on other custom fields',
    says: /customFilters, which the core .*, is {.*"text"}, where {"age":"number",.*} is right/,
    plan: { customFilters },
  },
  {
    fault: 'has no index for a filter that came with a restart',
    breaks: 'filters on other custom fields',
    says: /: (users|posts)\.list\({"filter":{"custom":{"team".*\) ended in RangeError: no such index/,
    plan: inBoth((inner) => ({
      list: async (request) => {
        if (request.filter.custom?.team) throw new RangeError('no such index');
        return inner.list(request);
      },
    })),
  },
  {
    fault: 'reads what it has read before from a cache of its handle',
    breaks: 'a read after an acknowledged change',
    says: /the record .* is/,
    plan: inBoth((inner) => {
      const cache = new Map<string, Versioned<never>>();
      const forgetful = <T>(id: string, result: Promise<T>) =>
        result.finally(() => cache.delete(id));
      return {
        get: async (id) => {
          const got = cache.get(id) ?? (await inner.get(id));
          if (got) cache.set(id, got as Versioned<never>);
          return got as Versioned<never> | undefined;
        },
        update: (id, decide) => forgetful(id, inner.update(id, decide)),
      };
    }),
  },
  {
    fault: 'makes the changes of its handle one after another, and those of no other',
    breaks: '50 changes without a condition all land',
    says: /the record .* is|version of .* is/,
    plan: inBoth((inner) => {
      let last: Promise<unknown> = Promise.resolve();
      return {
        update: (id, decide) => {
          const changed = last.then(async () => {
            const current = await inner.get(id);
            const next = current && decide(current);
            await new Promise(setImmediate);
            return next && inner.update(id, () => next);
          });
          last = changed.catch(() => {});
          return changed;
        },
      };
    }),
  },
  {
    fault: 'has receipts of its handle alone',
    breaks: 'of 20 creations under one receipt, one wins',
    says: /new records is 2, where 1 is right|ended in RostrumError|errors of 20 creations/,
    plan: inBoth((inner) => {
      const name = String(Math.random());
      return {
        create: (record, receipt) =>
          inner.create(record, receipt && { ...receipt, key: `${name} ${receipt.key}` }),
      };
    }),
  },
  {
    fault: 'forgets receipts and the ids of deleted records with its handle',
    breaks: 'records, the ids of deleted ones, and receipts are there',
    says: /a call returned that has to end in id-taken|replayed of a repeat is false/,
    plan: inBoth((inner) => {
      const known = new Set<string>();
      return {
        create: async (record, receipt) => {
          const isOwn = known.has(record.id) || known.has(receipt?.key ?? record.id);
          known.add(record.id).add(receipt?.key ?? record.id);
          if (isOwn || (await inner.get(record.id))) return inner.create(record, receipt);
          const id = (await inner.isIdTaken(record.id)) ? `${record.id}'` : record.id;
          return inner.create({ ...record, id });
        },
      };
    }),
  },
  {
    fault: 'filters by what was written through its handle',
    breaks: 'filters on other custom fields find every record',
    says: /list of {"custom":.*} is \[/,
    plan: inBoth((inner) => {
      const written = new Set<string>();
      return {
        create: (record, receipt) => {
          written.add(record.id);
          return inner.create(record, receipt);
        },
        list: async ({ filter, ...request }) => {
          const { custom } = filter as { custom?: unknown };
          const ids = custom ? [...written] : filter.ids;
          return inner.list({ ...request, filter: { ...filter, ids } });
        },
      };
    }),
  },
];
