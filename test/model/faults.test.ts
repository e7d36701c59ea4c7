import { expect } from 'chai';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import type { Rostrum, Store } from '../../src/index.ts';
import type { Entity, Repository } from '../../src/ports/index.ts';
import type { Calls, Outcome } from './calls.ts';
import { coreCalls } from './core-calls.ts';
import { judge } from './rules.ts';
import { runModel, type Subject } from './run-model.ts';

type AnyRepository = Repository<Entity, object, 'createdAt'>;
type CoreCalls = Calls<Promise<Outcome>>;

/** An object of which some methods do something else. */
function overlay<T extends object>(inner: T, changed: Partial<T>): T {
  return new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(changed, name) ?? Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

function inStore(change: (store: Store) => Partial<Store>): Subject {
  return {
    open() {
      const store = createMemoryStore();
      return { ...store, ...change(store) };
    },
    attach: async (rostrum) => ({ calls: coreCalls(rostrum) }),
  };
}

function inRepositories(change: (inner: AnyRepository) => Partial<AnyRepository>): Subject {
  const changed = <T extends object>(inner: T): T =>
    overlay(inner, change(inner as unknown as AnyRepository) as Partial<T>);
  return inStore(({ users, posts }) => ({ users: changed(users), posts: changed(posts) }));
}

function inService(change: (inner: CoreCalls) => Partial<CoreCalls>): Subject {
  return {
    open: createMemoryStore,
    async attach(rostrum: Rostrum) {
      const inner = coreCalls(rostrum);
      return { calls: { ...inner, ...change(inner) } };
    },
  };
}

/** A creation whose refusals tell of less than is wrong. */
const telling = (some: (issues: readonly string[]) => readonly string[]): Subject =>
  inService((inner) => ({
    async create(...args) {
      const outcome = await inner.create(...args);
      if (!('error' in outcome) || outcome.issues === undefined) return outcome;
      return { ...outcome, issues: some(outcome.issues) };
    },
  }));

const faults: Record<string, Subject> = {
  'the store counts a change that changes nothing': inRepositories((inner) => ({
    update: (id, decide) => inner.update(id, (current) => ({ ...decide(current) })),
  })),

  'the store answers a repeat with the record as it is now': inRepositories((inner) => ({
    async create(make, claim) {
      const made = await inner.create(make, claim);
      const { version, record, json } = (await inner.get(made.record.id)) ?? made;
      return { version, record, json, replayed: made.replayed };
    },
  })),

  'the store keeps a claim a millisecond too long': inRepositories((inner) => ({
    create(make, claim) {
      const until = new Date(Date.parse(claim?.until ?? '') + 1);
      return inner.create(make, claim && { ...claim, until: until.toISOString() });
    },
  })),

  'the store sorts ties by id the other way round': inRepositories((inner) => ({
    async list(request) {
      const found = await inner.list({ ...request, limit: 1000 });
      const items = [...found.items];
      for (let i = 1; i < items.length; i++) {
        const [a, b] = [items[i - 1], items[i]];
        if (a && b && a.record.createdAt === b.record.createdAt) [items[i - 1], items[i]] = [b, a];
      }
      return { ...found, items };
    },
  })),

  'the store drops the last record of a last page': inRepositories((inner) => ({
    async list(request) {
      const found = await inner.list(request);
      const full = found.next === undefined && found.items.length === request.limit;
      return full ? { ...found, items: found.items.slice(0, -1) } : found;
    },
  })),

  'the store does not end a page where it gets too large': inRepositories((inner) => ({
    list: (request) => inner.list({ ...request, bytes: Infinity }),
  })),

  'the store leaves the version of posts without their author alone': inStore((store) => ({
    users: overlay(store.users, {
      async delete(id, mode, at, guard) {
        const order = { by: 'createdAt', direction: 'asc' } as const;
        const request = { filter: { authorId: id }, order, limit: 1000, bytes: Infinity };
        const { items } = await store.posts.list(request);
        const deleted = await store.users.delete(id, mode, at, guard);
        for (const { record, version } of deleted && mode === 'keep' ? items : []) {
          const kept = await store.posts.get(record.id);
          if (kept === undefined) throw new Error('A post is gone.');
          const { json } = kept;
          await store.transfer?.posts.load([{ record: kept.record, json, version }]);
        }
        return deleted;
      },
    }),
  })),

  'the store takes É and é in an email for two letters': inStore(({ users }) => ({
    users: overlay(users, {
      create(make, claim) {
        const made = () => {
          const user = make();
          return { ...user, email: user.email?.replace('É', 'E') ?? null };
        };
        return users.create(made, claim);
      },
    }),
  })),

  'the service takes all callers for one': inService((inner) => ({
    create: (resource, input, { caller: _, ...options }) => inner.create(resource, input, options),
  })),

  'the service does not look at If-None-Match on a change': inService((inner) => ({
    change: (how, resource, id, input, { except: _, ...precondition }) =>
      inner.change(how, resource, id, input, precondition),
  })),

  'the service replaces where it should merge': inService((inner) => ({
    async change(how, resource, id, input, precondition) {
      const current = await inner.get(resource, id);
      const merged = 'record' in current ? { ...current.record, ...input } : input;
      return how === 'patch' && judge(resource, merged, id).issues.length === 0
        ? inner.change('replace', resource, id, merged, precondition)
        : inner.change(how, resource, id, input, precondition);
    },
  })),

  'the service tells of the first wrong field only': telling((issues) => issues.slice(0, 1)),

  'the service tells of an unknown author only when all else is right': telling((issues) => {
    const others = issues.filter((issue) => issue !== '/authorId unknown');
    return others.length > 0 ? others : issues;
  }),

  'the service deletes posts that were to be kept': inService((inner) => ({
    delete: (resource, id, { posts, ...precondition }) =>
      inner.delete(resource, id, {
        ...precondition,
        ...(posts && { posts: posts === 'keep' ? 'delete' : posts }),
      }),
  })),
};

describe('the model finds a planted fault', function () {
  this.timeout(30_000);

  /** The first disagreement, if there is one. */
  async function disagreement(subject: Subject): Promise<string | undefined> {
    const extent = { runs: 150, commands: 100, seed: 1, shrink: false };
    return runModel(subject, extent).then(
      () => undefined,
      (error: Error) => String(error.cause),
    );
  }

  for (const [name, subject] of Object.entries(faults)) {
    it(name, async () => {
      expect(await disagreement(subject)).to.match(/AssertionError/);
    });
  }
});
