import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import {
  type Condition,
  type Creation,
  cutPage,
  type DeletedId,
  type EventLog,
  type ListQuery,
  type Post,
  type Receipt,
  type RecordEvent,
  type Repository,
  type Store,
  searchRow,
  type Transfer,
  type User,
  type Versioned,
  VersionedRecord,
  withoutAuthor,
} from '../../src/ports/index.ts';
import { idsOf, list, recordsOf, select } from '../../src/testing/lists/lists.ts';

/** One thing that a store gets wrong, and the tests of the suite that must notice. */
export interface Fault {
  /** Ends the sentence "a store that …". */
  readonly fault: string;
  /** A part of the names of the tests that must fail: all of them. */
  readonly breaks: string;
  /** What their messages say. */
  readonly says?: RegExp;
  /** Returns the members that differ from those of a correct store. */
  readonly plant: (store: Store) => Partial<Store>;
}

/** Returns an object with some other members. */
export function overriding<T extends object>(target: T, members: object): T {
  return new Proxy(target, {
    get: (_, key) => {
      if (Object.hasOwn(members, key)) return Reflect.get(members, key);
      const member: unknown = Reflect.get(target, key);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

type Records = Repository<User & Post> & { delete: (...values: never[]) => Promise<unknown> };

/** Plants a fault in the users and in the posts. */
export function inBoth(change: (inner: Records, name: 'users' | 'posts') => object) {
  return ({ users, posts }: Store): Partial<Store> => ({
    users: overriding(users, change(users as unknown as Records, 'users')),
    posts: overriding(posts, change(posts as unknown as Records, 'posts')),
  });
}

function inDelete(remove: (...values: Parameters<Deletes>) => ReturnType<Deletes>) {
  return (store: Store): Partial<Store> => ({
    users: overriding(store.users, {
      delete: async (id: string, mode: Mode, at: string, guard?: never) =>
        mode === 'refuse' ? store.users.delete(id, mode, at, guard) : remove(store, id, mode, at),
    }),
  });
}

type Mode = 'refuse' | 'delete' | 'keep';
type Deletes = (
  store: Store,
  id: string,
  mode: Mode,
  at: string,
) => ReturnType<Store['users']['delete']>;

function inTransfer(change: (inner: Transfer['users'], name: 'users' | 'posts') => object) {
  return ({ transfer }: Store): Partial<Store> =>
    transfer
      ? {
          transfer: overriding(transfer, {
            users: overriding(transfer.users, change(transfer.users, 'users')),
            posts: overriding(transfer.posts, change(transfer.posts as never, 'posts')),
          }),
        }
      : {};
}

function inEvents(read: (inner: EventLog, ...values: Parameters<EventLog['read']>) => object) {
  return ({ events }: Store): Partial<Store> => ({
    ...(events && {
      events: { read: (...values) => read(events, ...values) as ReturnType<EventLog['read']> },
    }),
  });
}

/** Plants a fault in what lists match. */
function inLists(change: (query: ListQuery) => Pick<ListQuery, 'conditions'> & object) {
  return inBoth((inner) => ({
    list: (query: ListQuery) => inner.list({ ...query, ...change(query) }),
  }));
}

/**
 * Plants a fault in what conditions match.
 *
 * @param isMet compares the value of a record; undefined if the store is right about it
 */
function inConditions(isMet: (condition: Condition, value: unknown, id: string) => unknown) {
  return inBoth((inner, name) => ({
    async list(query: ListQuery) {
      const { items } = await list(inner, { limit: 1000 });
      const found = recordsOf(items).filter((record) =>
        query.conditions.every((condition) => {
          const values = condition.declaredType ? record : searchRow(name, record);
          const planted = isMet(condition, Reflect.get(values, condition.field), record.id);
          const right = select(name, [record], { ...query, conditions: [condition] }).length > 0;
          return planted ?? right;
        }),
      );
      const isFound = { field: 'id', op: 'in', value: idsOf(found) } as const;
      return inner.list({ ...query, conditions: [isFound] });
    },
  }));
}

/** Lets other calls run: the gap between a check and the change that depends on it. */
function gap(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function postsOf({ posts }: Store, authorId: string) {
  const conditions = [{ field: 'authorId', op: 'eq', value: authorId } as const];
  return list(posts, { conditions, limit: 1000 }).then(({ items }) => recordsOf(items));
}

/** A change replaces what was read, whatever happened since. */
const losesUpdates = inBoth((inner) => ({
  async update(id: string, decide: (current: Versioned<User & Post>) => User & Post) {
    const current = await inner.get(id);
    const next = current && decide(current);
    await gap();
    return next && inner.update(id, () => next);
  },
}));

/** Opens a memory store with a fault. */
export function openFaulty(plant: Fault['plant'] = losesUpdates): Store {
  const store = createMemoryStore();
  return { ...store, ...plant(store) };
}

export const faults: readonly Fault[] = [
  {
    fault: 'runs decide, and writes a moment later',
    breaks: '50 concurrent changes are all applied',
    plant: losesUpdates,
  },
  {
    fault: 'checks the receipt, and creates the record a moment later',
    breaks: 'one of 20 creations under the same receipt wins',
    plant: inBoth((inner) => {
      const made = new Map<string, Creation<User>>();
      return {
        async create(record: User & Post, receipt?: Receipt) {
          const earlier = receipt && made.get(receipt.key);
          if (earlier) return Object.assign(earlier, { replayed: true });
          await gap();
          const creation = await inner.create(record);
          if (receipt) made.set(receipt.key, creation);
          return creation;
        },
      };
    }),
  },
  {
    fault: 'runs the guard, and deletes a moment later',
    breaks: 'one change or deletion of each version wins',
    plant: inBoth((inner, name) => ({
      async delete(id: string, ...values: never[]) {
        const guard = values.at(-1) as ((current: unknown) => void) | undefined;
        const current = await inner.get(id);
        if (current) guard?.(current);
        await gap();
        const others = name === 'users' ? values.slice(0, 2) : [];
        return inner.delete(id as never, ...others);
      },
    })),
  },
  {
    fault: 'deletes the posts, and the user a moment later',
    breaks: 'readers see all of the deletion',
    says: /a reader saw \d+ of \d+ posts/,
    plant: inDelete(async (store, id, mode, at) => {
      for (const { id: postId } of await postsOf(store, id)) {
        if (mode === 'delete') await store.posts.delete(postId);
        else await store.posts.update(postId, ({ record }) => withoutAuthor(record, at));
      }
      await gap();
      return store.users.delete(id, mode, at);
    }),
  },
  {
    fault: 'overwrites kept posts with an earlier read',
    breaks: 'keep: loses no concurrent change or move',
    plant: inDelete(async (store, id, mode, at) => {
      if (mode === 'delete') return store.users.delete(id, mode, at);
      const theirs = await postsOf(store, id);
      await gap();
      for (const post of theirs) await store.posts.update(post.id, () => withoutAuthor(post, at));
      return store.users.delete(id, mode, at);
    }),
  },
  {
    fault: 'caches reads per handle',
    breaks: 'a random walk',
    plant: inBoth((inner) => {
      const cache = new Map<string, unknown>();
      const forget = <T>(id: string, result: Promise<T>) => result.finally(() => cache.delete(id));
      return {
        async get(id: string) {
          if (!cache.has(id)) cache.set(id, await inner.get(id));
          return cache.get(id);
        },
        create: (record: User & Post, receipt?: Receipt) =>
          forget(record.id, inner.create(record, receipt)),
        update: (id: string, decide: never) => forget(id, inner.update(id, decide)),
        delete: (id: string, ...values: never[]) =>
          forget(id, inner.delete(id as never, ...values)),
      };
    }),
  },
  {
    fault: 'restarts the versions of a deleted id',
    breaks: 'a random walk',
    says: /version, is 1, expected \d+/,
    plant: inBoth((inner) => ({
      async create(record: User & Post, receipt?: Receipt) {
        const { json, replayed } = await inner.create(record, receipt);
        return Object.assign(new VersionedRecord(json, 1), { replayed });
      },
    })),
  },
  {
    fault: 'returns the current record for a repeated creation',
    breaks: 'a random walk',
    plant: inBoth((inner) => ({
      async create(record: User & Post, receipt?: Receipt) {
        const creation = await inner.create(record, receipt);
        const current = creation.replayed ? await inner.get(creation.record.id) : undefined;
        return current ? Object.assign(current, { replayed: true }) : creation;
      },
    })),
  },
  {
    fault: 'ignores the fingerprint of a receipt',
    breaks: 'a random walk',
    plant: inBoth((inner) => ({
      create: (record: User & Post, receipt?: Receipt) =>
        inner.create(record, receipt && { ...receipt, fingerprint: '' }),
    })),
  },
  {
    fault: 'keeps 32 bits of a version',
    breaks: 'versions up to 2^53',
    says: /expected 2147483648/,
    plant: inTransfer((inner) => ({
      async scan(...values: Parameters<typeof inner.scan>) {
        const found = await inner.scan(...values);
        return found.map(({ json, version }) => new VersionedRecord(json, version | 0));
      },
    })),
  },
  {
    fault: 'loads a record below its last version',
    breaks: 'a random walk',
    plant: (store) =>
      inTransfer((inner, name) => ({
        async load(records: readonly Versioned<User>[]) {
          for (const { record, version } of records) {
            const last = (await store[name].lastVersion(record.id)) ?? 0;
            await inner.load([new VersionedRecord(record, Math.max(version, last))]);
          }
        },
      }))(store),
  },
  {
    fault: 'ignores records that it cannot load',
    breaks: 'load rejects',
    says: /a call returned/,
    plant: inTransfer((inner) => ({
      load: (records: readonly Versioned<User>[]) => inner.load(records).catch(() => {}),
    })),
  },
  {
    fault: 'keeps the last version of a deleted id that is loaded again',
    breaks: 'a random walk',
    plant: (store) =>
      inTransfer(({ deleted }, name) => ({
        deleted: overriding(deleted, {
          async load(ids: readonly DeletedId[]) {
            for (const one of ids) {
              if (!(await store[name].lastVersion(one.id))) await deleted.load([one]);
            }
          },
        }),
      }))(store),
  },
  {
    fault: 'returns cached objects without copying them',
    breaks: 'modifying a returned record changes nothing else',
    plant: inBoth((inner) => {
      const cache = new Map<string, Versioned<User>>();
      return {
        async get(id: string) {
          const current = await inner.get(id);
          const cached = cache.get(id);
          if (cached?.version === current?.version) return cached;
          if (current) cache.set(id, current);
          return current;
        },
      };
    }),
  },
  {
    fault: 'freezes what it returns',
    breaks: 'results of create and update can get more members',
    plant: inBoth((inner) => ({
      create: async (record: User & Post) => Object.freeze(await inner.create(record)),
      update: async (id: string, decide: never) => Object.freeze(await inner.update(id, decide)),
    })),
  },
  {
    fault: 'reads the conditions of a list after a wait',
    breaks: 'modifying an argument after the call changes nothing',
    plant: inBoth((inner) => ({
      async list(query: ListQuery) {
        await gap();
        return inner.list(query);
      },
    })),
  },
  {
    fault: 'matches null before any text',
    breaks: 'a random walk',
    says: /^The store is wrong: the result of call \d+ of seed \d[\s\S]* was (users|posts)\.list\(/,
    plant: inConditions(({ op }, value) => (op === 'before' && value === null) || undefined),
  },
  {
    fault: 'compares texts in their normal form',
    breaks: 'by a declared text',
    plant: inConditions((condition, value) => {
      const texts = [value].flat().filter((one) => typeof one === 'string');
      if (texts.length === 0 || (condition.op !== 'eq' && condition.op !== 'has')) return undefined;
      return texts.some((one) => one.normalize() === String(condition.value).normalize());
    }),
  },
  {
    fault: 'compares 15 digits of a number',
    breaks: 'by a declared number',
    plant: inConditions((condition, value) => {
      if (condition.op !== 'eq' || typeof value !== 'number') return undefined;
      return value.toPrecision(15) === Number(condition.value).toPrecision(15);
    }),
  },
  {
    fault: 'joins the elements of an array with commas',
    breaks: 'by a declared text[]',
    plant: inConditions((condition, value) => {
      if (condition.op !== 'has' || !Array.isArray(value)) return undefined;
      return value.join().split(',').includes(condition.value);
    }),
  },
  {
    fault: 'keeps the elements that an array had before',
    breaks: 'a random walk',
    plant: (store) => {
      const found = new Set<string>();
      return inConditions((condition, value, id) => {
        if (condition.op !== 'has' || !Array.isArray(value)) return undefined;
        const key = JSON.stringify([id, condition.field, condition.value]);
        if (value.includes(condition.value)) found.add(key);
        return found.has(key);
      })(store);
    },
  },
  {
    fault: 'drops one of two conditions on a field',
    breaks: 'a random walk',
    plant: inLists(({ conditions }) => {
      const byField = new Map(conditions.map((one) => [one.field, one]));
      return { conditions: [...byField.values()] };
    }),
  },
  {
    fault: 'counts UTF-16 units as bytes',
    breaks: 'a page ends before it exceeds its bytes',
    plant: inBoth((inner) => ({
      async list({ bytes, ...query }: ListQuery) {
        const page = await inner.list({ ...query, bytes: 2 ** 30 });
        const items = page.items.map(({ json, version }) => ({
          version,
          json: '-'.repeat(json.length),
        }));
        const { length } = cutPage(items, { limit: query.limit, bytes }, () => ({
          key: '',
          id: '',
        })).items;
        return inner.list({ ...query, bytes: 2 ** 30, limit: length || 1 });
      },
    })),
  },
  {
    fault: 'makes no events for the posts of a deleted user',
    breaks: 'posts, their receipts and their events',
    plant: (store) => {
      const lost = new Set<string>();
      const read = inEvents(async (inner, ...values) => {
        const page = await inner.read(...values);
        const isLost = ({ id, version }: RecordEvent) => lost.has(`${id} ${version}`);
        return { ...page, events: page.events.filter((event) => !isLost(event)) };
      });
      const remove = inDelete(async (_, id, mode, at) => {
        for (const { id: postId } of await postsOf(store, id)) {
          const version = (await store.posts.lastVersion(postId)) ?? 0;
          lost.add(`${postId} ${mode === 'delete' ? version : version + 1}`);
        }
        return store.users.delete(id, mode, at);
      });
      return { ...read(store), ...remove(store) };
    },
  },
  {
    fault: 'reports the creation of a deleted id as an update',
    breaks: 'a random walk',
    says: /^The store is wrong: the events, at .* is "updated \d+", expected "created \d+"/,
    plant: inEvents(async (inner, ...values) => {
      const { events, next } = await inner.read(...values);
      const typeOf = ({ type, version }: RecordEvent) =>
        type === 'created' && version > 1 ? 'updated' : type;
      return { events: events.map((event) => ({ ...event, type: typeOf(event) })), next };
    }),
  },
  {
    fault: 'continues from the end after an unknown position',
    breaks: 'an unknown position throws events-expired',
    plant: inEvents((inner, limit, after) =>
      inner.read(limit, after).catch(() => inner.read(limit)),
    ),
  },
  {
    fault: 'fails when it is closed a second time',
    breaks: 'closing again does nothing',
    says: /close ended in Error: closed already|ended in Error: closed already/,
    plant: (store) => {
      let isClosed = false;
      const close = async () => {
        if (isClosed) throw new Error('closed already');
        isClosed = true;
        await store.close();
      };
      return { close, [Symbol.asyncDispose]: close };
    },
  },
];
