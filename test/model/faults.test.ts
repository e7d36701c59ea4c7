import { expect } from 'chai';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import type { Entity, Repository } from '../../src/ports/index.ts';
import type { Calls, Outcome } from './calls.ts';
import { coreCalls } from './core-calls.ts';
import { judge } from './rules.ts';
import { runModel, type Subject } from './run-model.ts';

type AnyRepository = Repository<Entity, object, 'createdAt'>;
type CoreCalls = Calls<Promise<Outcome>>;

function inRepositories(change: (inner: AnyRepository) => Partial<AnyRepository>): Subject {
  function changed<T extends object>(inner: T): T {
    const changes = change(inner as unknown as AnyRepository);
    return new Proxy(inner, {
      get(target, name) {
        const member: unknown = Reflect.get(changes, name) ?? Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }
  return {
    open() {
      const store = createMemoryStore();
      return { ...store, users: changed(store.users), posts: changed(store.posts) };
    },
    attach: async (rostrum) => ({ calls: coreCalls(rostrum) }),
  };
}

function inService(change: (inner: CoreCalls) => Partial<CoreCalls>): Subject {
  return {
    open: createMemoryStore,
    async attach(rostrum) {
      const inner = coreCalls(rostrum);
      return { calls: { ...inner, ...change(inner) } };
    },
  };
}

const faults: Record<string, Subject> = {
  'the store counts a change that changes nothing': inRepositories((inner) => ({
    update: (id, decide) => inner.update(id, (current) => ({ ...decide(current) })),
  })),

  'the store keeps a receipt a millisecond too long': inRepositories((inner) => ({
    create(record, receipt) {
      const until = new Date(Date.parse(receipt?.until ?? '') + 1);
      return inner.create(record, receipt && { ...receipt, until: until.toISOString() });
    },
  })),

  'the store answers a repeat with the record as it is now': inRepositories((inner) => ({
    async create(given, receipt) {
      const made = await inner.create(given, receipt);
      const { version, record, json } = (await inner.get(made.record.id)) ?? made;
      return { version, record, json, replayed: made.replayed };
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

  'the service tells of the first wrong field only': inService((inner) => ({
    async create(...args) {
      const outcome = await inner.create(...args);
      if (!('error' in outcome) || outcome.issues === undefined) return outcome;
      return { ...outcome, issues: outcome.issues.slice(0, 1) };
    },
  })),

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
