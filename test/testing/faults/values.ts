import { emailKey } from '../../../src/domain/email.ts';
import { storeUnavailable } from '../../../src/domain/errors.ts';
import { elsewhere, type Fault, inBoth, storing } from './plant.ts';

export const values: Fault[] = [
  {
    fault: 'returns one and the same object each time',
    breaks: 'users: changing what was returned',
    plan: inBoth((inner) => {
      const kept = new Map<string, unknown>();
      return {
        get: async (id) => {
          const got = await inner.get(id);
          const key = `${id} ${got?.version}`;
          if (!kept.has(key)) kept.set(key, got);
          return kept.get(key) as typeof got;
        },
      };
    }),
  },
  {
    fault: 'keeps the object that it was handed',
    breaks: 'posts: changing what was handed in',
    plan: inBoth((inner) => {
      const handed = new Map<string, unknown>();
      return {
        create: (record, claim) => {
          handed.set(record.id, record);
          return inner.create(record, claim);
        },
        get: async (id) => {
          const got = await inner.get(id);
          if (got?.version !== 1) return got;
          return { ...got, record: handed.get(id) as typeof got.record };
        },
      };
    }),
  },
  {
    fault: 'shows a decision what is stored and not a copy of it',
    breaks: 'users: changing what a decision or a guard is shown',
    plan: inBoth((inner) => {
      const shown = new Map<string, unknown>();
      return {
        update: (id, decide) =>
          inner.update(id, (current) => {
            shown.set(id, current);
            return decide(current);
          }),
        get: async (id) => {
          const got = await inner.get(id);
          return (shown.get(id) as typeof got) ?? got;
        },
      };
    }),
  },
  {
    fault: 'replays an alias of what the claim remembers',
    breaks: 'users: changing what was returned',
    plan: inBoth((inner) => {
      const kept = new Map<string, unknown>();
      return {
        replay: async (claim) => {
          const stored = await inner.replay(claim);
          if (!kept.has(claim.key)) kept.set(claim.key, stored);
          return kept.get(claim.key) as typeof stored;
        },
      };
    }),
  },
  {
    fault: 'returns objects without a prototype',
    breaks: 'users: a record comes back equal',
    plan: inBoth((inner) => ({
      get: async (id) => {
        const got = await inner.get(id);
        return got && { ...got, record: Object.assign(Object.create(null), got.record) };
      },
    })),
  },
  {
    fault: 'returns an email address in lower case',
    breaks: 'an email address is returned as it was written',
    plan: storing((record) =>
      typeof record.email === 'string' ? { ...record, email: emailKey(record.email) } : record,
    ),
  },
  {
    fault: 'keeps no moment before 1970',
    breaks: 'posts: every moment that an instant can say',
    plan: storing((record) => ({
      ...record,
      createdAt: record.createdAt < '1970' ? '1970-01-01T00:00:00.000Z' : record.createdAt,
    })),
  },
  {
    fault: 'raises for an id that it could not have made',
    breaks: 'users: get returns undefined for an id that names nothing',
    plan: inBoth((inner) => ({
      get: async (id) => {
        if (id === '') throw new RangeError('not an id');
        return inner.get(id);
      },
    })),
  },
  {
    fault: 'takes an id in any case for the same',
    breaks: 'posts: an id is exact',
    plan: inBoth((inner) => ({
      get: async (id) => (await inner.get(id.toLowerCase())) ?? inner.get(id),
    })),
  },
  {
    fault: 'acknowledges a change before it can be read',
    breaks: 'users: who reads after an acknowledged change',
    plan: inBoth((inner) => ({
      update: async (id, decide) => {
        const current = await inner.get(id);
        if (current === undefined) return undefined;
        const record = decide(current);
        elsewhere()
          .then(() => inner.update(id, () => record))
          .catch(() => {});
        return { record: structuredClone(record), version: current.version + 1 };
      },
    })),
  },
  {
    fault: 'keeps 255 characters of a text',
    breaks: 'fields come back that are as long',
    plan: storing((record) => ({ ...record, title: String(record.title).slice(0, 255) })),
  },
  {
    fault: 'keeps the object of a claim that it was handed',
    breaks: 'posts: changing what was handed in',
    plan: inBoth((inner) => {
      const handed = new Map<string, { readonly fingerprint: string }>();
      return {
        create: (record, claim) => {
          if (claim) handed.set(claim.key, claim);
          return inner.create(record, claim);
        },
        replay: async (claim) => {
          if (handed.get(claim.key)?.fingerprint !== claim.fingerprint) return undefined;
          return inner.replay(claim);
        },
      };
    }),
  },
  {
    fault: 'has no room for a record of a megabyte beside its claim',
    breaks: 'a record comes back that is as large',
    plan: inBoth((inner) => ({
      create: async (record, claim) => {
        if (claim && JSON.stringify(record).length > 1_000_000) throw storeUnavailable('none');
        return inner.create(record, claim);
      },
    })),
  },
  {
    fault: 'cuts a body at 65,535 bytes',
    breaks: 'a body may be empty and may have 100,000 characters',
    plan: storing((record) =>
      typeof record.body === 'string' ? { ...record, body: record.body.slice(0, 65_535) } : record,
    ),
  },
];
