import { jsonEqual } from '../../../src/domain/json.ts';
import { type Fault, inBoth } from './plant.ts';

export const updates: Fault[] = [
  {
    fault: 'makes a new version of what did not change',
    breaks: 'users: a decision that returns the very object',
    plan: inBoth((inner) => ({
      update: (id, decide) => inner.update(id, (current) => ({ ...decide(current) })),
    })),
  },
  {
    fault: 'takes an equal object for no change',
    breaks: 'posts: a decision that returns an equal but new object',
    plan: inBoth((inner) => ({
      update: (id, decide) =>
        inner.update(id, (current) => {
          const next = decide(current);
          return jsonEqual(next, current.record) ? current.record : next;
        }),
    })),
  },
  {
    fault: 'returns the version before the change',
    breaks: 'users: what is stored is what the decision made',
    plan: inBoth((inner) => ({
      update: async (id, decide) => {
        const before = await inner.get(id);
        const stored = await inner.update(id, decide);
        return stored && before && { ...stored, version: before.version };
      },
    })),
  },
  {
    fault: 'shows a decision the first version',
    breaks: 'posts: a decision is shown the record and the version',
    plan: inBoth((inner) => ({
      update: (id, decide) =>
        inner.update(id, (current) => {
          const shown = { record: current.record, version: 1 };
          return decide(shown);
        }),
    })),
  },
  {
    fault: 'keeps to itself what a decision throws',
    breaks: 'users: what a decision throws ends the call',
    plan: inBoth((inner) => ({
      update: (id, decide) => inner.update(id, decide).catch(() => inner.get(id)),
    })),
  },
  {
    fault: 'wraps what a decision throws',
    breaks: 'posts: what a decision throws ends the call',
    plan: inBoth((inner) => ({
      update: (id, decide) =>
        inner.update(id, decide).catch((cause) => {
          throw new Error('the decision failed', { cause });
        }),
    })),
  },
  {
    fault: 'lets a decision make a record that is not there',
    breaks: 'users: an id that names nothing is undefined',
    plan: inBoth((inner) => ({
      update: async (id, decide) => {
        const current = await inner.get(id);
        if (current === undefined) decide({ record: { id } as never, version: 0 });
        return inner.update(id, decide);
      },
    })),
  },
  {
    fault: 'changes another record too',
    breaks: 'posts: a change touches no other record',
    plan: inBoth((inner) => {
      const ids = new Set<string>();
      return {
        create: (record, claim) => {
          ids.add(record.id);
          return inner.create(record, claim);
        },
        update: async (id, decide) => {
          for (const other of ids) {
            if (other !== id) await inner.update(other, ({ record }) => ({ ...record }));
          }
          return inner.update(id, decide);
        },
      };
    }),
  },
  {
    fault: 'holds on to updatedAt as it first was in its lists',
    breaks: 'users: every field but the id can change',
    plan: inBoth((inner) => {
      const first = new Map<string, string>();
      return {
        create: (record, claim) => {
          first.set(record.id, record.updatedAt);
          return inner.create(record, claim);
        },
        list: async (filter, page) => {
          const { updatedAt, ...rest } = filter;
          const all = await inner.list(rest as typeof filter, page);
          const items = all.items.filter(({ record }) => {
            const then = first.get(record.id) ?? '';
            return then >= (updatedAt?.from ?? '') && then < (updatedAt?.before ?? '~');
          });
          return { ...all, items };
        },
      };
    }),
  },
];
