import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { newestFirst, type Store } from '../../src/index.ts';
import { inBoth, openPlanted, type Plan } from '../testing/faults/plant.ts';
import type { Calls } from './calls.ts';
import { coreCalls } from './core-calls.ts';
import { judge } from './rules.ts';

/** One thing that is wrong with the service or with a store. */
export interface ModelFault {
  readonly open?: () => Store;
  readonly calls?: (inner: Calls) => Partial<Calls>;
}

const inStore = (plan: Plan): ModelFault => ({ open: () => openPlanted(plan) });
const inService = (calls: (inner: Calls) => Partial<Calls>): ModelFault => ({ calls });

export const modelFaults: Record<string, ModelFault> = {
  'the store counts a change that changes nothing': inStore(
    inBoth((inner) => ({
      update: (id, decide) => inner.update(id, (current) => ({ ...decide(current) })),
    })),
  ),
  'the store forgets a claim when its record is changed': inStore(
    inBoth((inner) => ({
      create: async (record, claim) => {
        const made = await inner.create(record, claim);
        const now = await inner.get(made.stored.record.id);
        return made.replayed && now ? { ...made, stored: now } : made;
      },
    })),
  ),
  'the store keeps a claim a millisecond too long': inStore(
    inBoth((inner) => ({
      create: (record, claim) => {
        const until = claim && new Date(Date.parse(claim.until) + 1).toISOString();
        return inner.create(record, claim && { ...claim, until: until ?? claim.until });
      },
    })),
  ),
  'the store sorts ties by id the other way round': inStore(
    inBoth((inner) => ({
      list: async (filter, page) => {
        const found = await inner.list(filter, { ...page, limit: 1000 });
        const key = (at: number) => found.items[at]?.record.createdAt;
        const items = [...found.items];
        for (let i = 1; i < items.length; i++) {
          const [a, b] = [items[i - 1], items[i]];
          if (key(i) === key(i - 1) && a && b) [items[i - 1], items[i]] = [b, a];
        }
        return { ...found, items };
      },
    })),
  ),
  'the store drops the last record of a last page': inStore(
    inBoth((inner) => ({
      list: async (filter, page) => {
        const found = await inner.list(filter, page);
        const full = found.next === undefined && found.items.length === page.limit;
        return full ? { ...found, items: found.items.slice(0, -1) } : found;
      },
    })),
  ),
  'the store leaves the version of released posts alone': inStore({
    users: (inner, { posts }) => ({
      delete: async (id, mode, guard) => {
        const filter = { authorId: id };
        const page = { order: newestFirst, limit: 1000 };
        const theirs = (await posts.list(filter, page)).items;
        const deleted = await inner.delete(id, mode, guard);
        for (const { record, version } of deleted && mode.posts === 'keep' ? theirs : []) {
          const released = await posts.get(record.id);
          if (released !== undefined) await posts.load([{ ...released, version }]);
        }
        return deleted;
      },
    }),
  }),
  'the store takes É and é in an email for two letters': inStore({
    users: (inner) => ({
      create: (user, claim) => {
        const email = user.email?.replace('É', 'E') ?? null;
        return inner.create({ ...user, email }, claim);
      },
    }),
  }),
  'the service does not look at If-None-Match on a change': inService((inner) => ({
    patch: (kind, id, patch, { only }) => inner.patch(kind, id, patch, only ? { only } : {}),
  })),
  'the service replaces where it should merge': inService((inner) => ({
    patch: async (kind, id, patch, condition) => {
      const current = await inner.get(kind, id);
      const merged = 'record' in current ? { ...current.record, ...patch } : patch;
      const { issues } = judge(kind, merged, id);
      return issues.length > 0
        ? inner.patch(kind, id, patch, condition)
        : inner.replace(kind, id, merged, condition);
    },
  })),
  'the service tells of the first wrong field only': inService((inner) => ({
    create: async (kind, input, key) => {
      const outcome = await inner.create(kind, input, key);
      if (!('error' in outcome) || outcome.issues === undefined) return outcome;
      return { ...outcome, issues: outcome.issues.slice(0, 1) };
    },
  })),
  'the service refuses an unknown author only when all else is right': inService((inner) => ({
    create: async (kind, input, key) => {
      const outcome = await inner.create(kind, input, key);
      if (!('error' in outcome) || outcome.issues === undefined) return outcome;
      const known = outcome.issues.filter((issue) => issue !== '/authorId unknown');
      return { ...outcome, issues: known.length > 0 ? known : outcome.issues };
    },
  })),
  'the service deletes posts that were to be kept': inService((inner) => ({
    deleteUser: (id, posts, condition) =>
      inner.deleteUser(id, posts === 'keep' ? 'delete' : posts, condition),
  })),
};

export function subjectOf({ open = createMemoryStore, calls = () => ({}) }: ModelFault) {
  return {
    open,
    async attach(rostrum: Parameters<typeof coreCalls>[0]) {
      const inner = coreCalls(rostrum);
      return { calls: { ...inner, ...calls(inner) }, async [Symbol.asyncDispose]() {} };
    },
  };
}
