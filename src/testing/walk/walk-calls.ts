import { type DeclaredType, fieldsIn, isSortable } from '../../domain/fields/declared-fields.ts';
import {
  type Condition,
  type ListQuery,
  type Position,
  pageLimits,
  type QueryField,
  type QueryOrder,
} from '../../domain/lists/list.ts';
import { instantFields, sorts } from '../../domain/lists/search.ts';
import {
  addMs,
  earliestInstant,
  type Instant,
  instantToMs,
  latestInstant,
} from '../../domain/records/instant.ts';
import type { Post } from '../../domain/records/post.ts';
import type { Receipt } from '../../domain/records/receipt.ts';
import {
  type Collection,
  type Entity,
  type Id,
  pickFields,
  type Versioned,
  VersionedRecord,
} from '../../domain/records/record.ts';
import { prefixSpan } from '../../domain/records/text.ts';
import type { User } from '../../domain/records/user.ts';
import type { Guard } from '../../ports/repository.ts';
import type { Store } from '../../ports/store.ts';
import { deleteModes } from '../../ports/user-repository.ts';
import { at, digest, longTexts, post, rangeEnds, times, user } from '../fixtures.ts';
import { sortKeyOf } from '../lists/lists.ts';
import { declaredFields, repositoryOf, rowOf, transferOf } from '../suite.ts';

/** A call that can be made on several stores, first on the memory store. */
export type Call = (store: Store) => Promise<unknown>;

/** Thrown by a random decision or guard. Its `cause` is the record that the callback received. */
export class Refusal extends Error {}

// Small pools, so that values repeat, records conflict, and ids are created again.
const ids = {
  users: ['u', 'U', 'ü', 'u1', 'u2', 'u10', '~'],
  posts: [...times(16, (n) => `p${n}`), 'u', 'ü'],
};
const texts = [
  ...['Ada', 'ada', 'ADA L', 'Ä', 'A\u0308', 'straße', 'STRASSE', '😀', '～', 'a%', 'a_b', "a'"],
  ...['a\\', 'a*', 'a?', 'a[d]', 'ΟΔΟΣ', 'οδοσα', 'ﬁn', 'fin', 'a\u{10ffff}', ...longTexts(200)],
];
const emails = ['ada@x.example', 'ADA@X.example', 'b@ü.example', 'b@xn--tda.example', 'c@y.z'];
const moments = [
  ...[earliestInstant, '1969-12-31T23:59:59.998Z', '1969-12-31T23:59:59.999Z', latestInstant],
  ...['1970-01-01T00:00:00.000Z', '2038-01-19T03:14:08.000Z'],
  ...[0, 1, 40_000, 80_000, 120_000].map(at),
];
const versions = [1, 2, 3, 5, 9, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32];
const declaredPools: Readonly<Record<DeclaredType, readonly unknown[]>> = {
  text: ['en', 'EN', 'é', 'e\u0301', '1', '', ' ', '😀', '～', ...longTexts(1000, '～')],
  number: [
    ...[1, 1.5, -1, -1.5, 0, 2 ** 31, 0.3, 0.1 + 0.2, 2 ** 53 - 1, 1 - 2 ** 53, 1e-7, 1e300, 2e300],
  ],
  boolean: [true, false],
  'text[]': [
    ...[['en'], ['en', 'é'], ['en', 'en'], [], ['a,b', '"'], ['EN', ''], ['a', 'b', 'en']],
    times(20, (n) => `${'abcdefghijklmnopqrst'[n]}`),
  ],
};

/** Makes the same calls for the same seed. */
export class RandomCalls {
  readonly #memory: Store;
  readonly #kinds: readonly ((collection: Collection) => Promise<Call>)[];
  /** The `next` of the last page by each field, in the direction of the last list. */
  readonly #positions = new Map<string, Position>();
  #state: number;
  /** Records of earlier calls. Repeating their values makes records conflict, and lists find them. */
  readonly #recent = { users: [] as Entity[], posts: [] as Entity[] };
  /** Milliseconds of the fixtures' time. It never goes back, so expired receipts stay expired. */
  #now = 0;
  /** When the stored receipt under each key expires. */
  readonly #receipts = new Map<string, Instant>();

  /** @param memory the store that the calls are made on first */
  constructor(seed: number, memory: Store, hasTransfer: boolean) {
    this.#state = seed;
    this.#memory = memory;
    const kinds: [weight: number, kind: (collection: Collection) => Promise<Call>][] = [
      [10, (collection) => this.#list(collection)],
      [6, (collection) => this.#create(collection)],
      [5, (collection) => this.#update(collection)],
      [4, (collection) => this.#delete(collection)],
      [6, (collection) => this.#read(collection)],
    ];
    if (hasTransfer) {
      kinds.push(
        [2, (collection) => this.#load(collection)],
        [1, (collection) => this.#loadDeleted(collection)],
        [1, (collection) => this.#scan(collection)],
        [1, (collection) => this.#scanDeleted(collection)],
        [1, () => this.#mark()],
      );
    }
    this.#kinds = kinds.flatMap(([weight, kind]) => times(weight, () => kind));
  }

  next(): Promise<Call> {
    this.#now += this.#pick([0, 1, 999, 1000]);
    return this.#pick(this.#kinds)(this.#pick(['users', 'posts', 'posts'] as const));
  }

  /** Calls that read everything: by id, and by each index. */
  sweep(): Call[] {
    return (['users', 'posts'] as const).flatMap((collection): Call[] => [
      ...ids[collection].flatMap((id): Call[] => [
        (store) => repositoryOf(store, collection).get(id),
        (store) => repositoryOf(store, collection).lastVersion(id),
      ]),
      ...sortable(collection).map((field): Call => {
        const order = { ...field, direction: this.#pick(['asc', 'desc'] as const) };
        const query = { conditions: [], order, limit: 1000, bytes: pageLimits.bytes, total: true };
        return async (store) => {
          const { isProjected: _, ...page } = await repositoryOf(store, collection).list(query);
          return page;
        };
      }),
    ]);
  }

  async #list(collection: Collection): Promise<Call> {
    const query = await this.#query(collection);
    const { fields, order } = query;
    return async (store) => {
      const { isProjected, ...page } = await repositoryOf(store, collection).list(query);
      if (page.next) this.#positions.set(nameOf(collection, order), page.next);
      if (fields === undefined) return page;
      const cut = (one: Entity) => pickFields(one, fields);
      const items = page.items.map((one) => [one.version, cut(one.record)]);
      const texts = page.items.map((one) => cut(JSON.parse(one.json)));
      return { ...page, items, texts };
    };
  }

  async #create(collection: Collection): Promise<Call> {
    const record = this.#record(collection, await this.#id(collection, false));
    const receipt = this.#chance(0.6) ? this.#receipt() : undefined;
    return async (store) => {
      const creation = await repositoryOf(store, collection).create(record, receipt);
      if (receipt && !creation.replayed) this.#receipts.set(receipt.key, receipt.until);
      return creation;
    };
  }

  async #update(collection: Collection): Promise<Call> {
    const { id, ...next } = this.#record(collection, await this.#id(collection));
    const isWhole = this.#chance(0.3);
    const parts = Object.fromEntries(Object.entries(next).filter(() => this.#chance(0.4)));
    const outcome = this.#randomBelow(8);
    this.#remember(collection, (await this.#memory[collection].get(id))?.record);
    return (store) =>
      repositoryOf(store, collection).update(id, (current) => {
        if (outcome === 0) throw new Refusal('refused', { cause: current });
        if (outcome === 1) return current.record;
        return isWhole ? { ...next, id } : { ...current.record, ...parts };
      });
  }

  async #delete(collection: Collection): Promise<Call> {
    const id = await this.#id(collection);
    const mode = this.#pick(deleteModes);
    const moment = this.#pick(moments);
    const refuses = this.#chance(0.2);
    this.#remember(collection, (await this.#memory[collection].get(id))?.record);
    const guard: Guard<unknown> = (current) => {
      if (refuses) throw new Refusal('refused', { cause: current });
    };
    return (store) =>
      collection === 'users'
        ? store.users.delete(id, mode, moment, guard)
        : store.posts.delete(id, guard);
  }

  async #read(collection: Collection): Promise<Call> {
    const id = await this.#id(collection);
    const method = this.#pick(['get', 'get', 'lastVersion'] as const);
    return (store) => repositoryOf(store, collection)[method](id);
  }

  async #load(collection: Collection): Promise<Call> {
    const records = this.#some(ids[collection]).map((id) => {
      const record = this.#record(collection, id) as never;
      return new VersionedRecord<never>(record, this.#pick(versions));
    });
    if (records.length === 1) return (store) => transferOf(store)[collection].load(records);
    // A call that throws may have stored some, so leave out what the memory store refuses.
    let accepted: Versioned<never>[] | undefined;
    return async (store) => {
      const transfer = transferOf(store)[collection];
      if (accepted) return transfer.load(accepted);
      accepted = [];
      for (const record of records) {
        const [outcome] = await Promise.allSettled([transfer.load([record])]);
        if (outcome.status === 'fulfilled') accepted.push(record);
      }
    };
  }

  async #loadDeleted(collection: Collection): Promise<Call> {
    const chosen = this.#some(ids[collection]);
    const deleted = chosen.map((id) => ({ id, lastVersion: this.#pick(versions) }));
    return (store) => transferOf(store)[collection].deleted.load(deleted);
  }

  async #scan(collection: Collection): Promise<Call> {
    const request = { ...this.#limits(), after: this.#maybe(this.#pick(ids[collection])) };
    return (store) => transferOf(store)[collection].scan(request);
  }

  async #scanDeleted(collection: Collection): Promise<Call> {
    const { limit } = this.#limits();
    const after = this.#maybe(this.#pick(ids[collection]));
    return (store) => transferOf(store)[collection].deleted.scan(limit, after);
  }

  async #mark(): Promise<Call> {
    const method = this.#pick(['begin', 'end', 'isFilling', 'isFilling'] as const);
    return (store) => transferOf(store)[method]();
  }

  async #query(collection: Collection): Promise<ListQuery> {
    const stored = await this.#memory[collection].get(await this.#id(collection));
    const other = this.#record(collection);
    const known = this.#chance(0.2) ? this.#pick(this.#recent[collection]) : stored?.record;
    const record: Entity = known && this.#chance(0.9) ? known : other;
    const conditions: Condition[] = [];
    for (let n = this.#pick([0, 1, 1, 2, 2, 3, 4, 6]); n > 0; n--) {
      const last = conditions.at(-1);
      const earlier = this.#chance(last?.op === 'has' ? 0.7 : 0.3) ? last : undefined;
      conditions.push(...this.#conditions(collection, record, earlier));
    }
    const order = this.#order(collection, conditions);
    const keyed = this.#chance(0.7) ? record : other;
    const key = sortKeyOf(keyed, rowOf(collection, keyed), order);
    const last = this.#positions.get(nameOf(collection, order));
    const fields = ['id', ...Object.keys(other).filter(() => this.#chance(0.3))];
    const isPart = this.#chance(0.2);
    return {
      conditions,
      order,
      after: this.#chance(0.4) ? this.#pick([{ key, id: record.id }, last]) : undefined,
      // What a store leaves out of the records is up to the store, and so is what fits into few bytes.
      ...(isPart ? { fields, limit: 3, bytes: pageLimits.bytes } : this.#limits()),
      total: this.#chance(0.5),
    };
  }

  /** An order, half of the time by a field that a condition is on. */
  #order(collection: Collection, conditions: readonly QueryField[]): QueryOrder {
    const all = sortable(collection);
    const names = conditions.map((one) => nameOf(collection, one));
    const own = all.filter((one) => names.includes(nameOf(collection, one)));
    const field = this.#pick(own.length > 0 && this.#chance(0.5) ? own : all);
    return { ...field, direction: this.#pick(['asc', 'desc']) };
  }

  /**
   * A condition that mostly holds for this record, or the two of a text that begins with another text.
   *
   * @param earlier an earlier condition; this one is on the same field
   */
  #conditions(collection: Collection, record: Entity, earlier?: QueryField): Condition[] {
    const declared = fieldsIn(declaredFields[collection]);
    const { name, type } =
      declared.find((one) => one.name === earlier?.field) ?? this.#pick(declared);
    const own = Object.hasOwn(record, name) ? [record[name] ?? []].flat() : [];
    if (earlier ? earlier.declaredType !== undefined : this.#chance(own.length > 0 ? 0.5 : 0.1)) {
      const isRange = isSortable({ type }) && this.#chance(0.7);
      const others = isRange && type === 'number' ? rangeEnds : declaredPools[type].flat();
      const value = this.#pick(own.length > 0 && this.#chance(0.9) ? own : others);
      const equal = type === 'text[]' ? 'has' : 'eq';
      const op = isRange ? this.#pick(['from', 'before']) : equal;
      return [{ field: name, declaredType: type, op, value } as Condition];
    }
    const row = rowOf(collection, record);
    const other = rowOf(collection, this.#record(collection));
    const field = this.#pick(earlier ? [earlier.field] : Object.keys(row));
    const value = (this.#chance(0.8) ? row : other)[field] ?? null;
    const isTime = instantFields.includes(field);
    const op = this.#pick(['eq', 'in', 'from', 'before', isTime ? 'from' : 'start'] as const);
    if (value === null) return [{ field, op: 'isNull' }];
    if (op === 'in') return [{ field, op, value: [value, other[field] ?? value] }];
    if (op !== 'start') {
      const isNext = op === 'before' && this.#chance(0.7);
      const next = isTime ? addMs(value, 1) : `${value}\u0001`;
      return [{ field, op, value: isNext ? next : value }];
    }
    const points = Array.from(value);
    const span = prefixSpan(points.slice(0, 1 + this.#randomBelow(points.length)).join(''));
    const end =
      span.before === undefined ? [] : [{ field, op: 'before', value: span.before } as const];
    return [{ field, op: 'from', value: span.from }, ...end];
  }

  #record(collection: Collection, id: Id = this.#pick(ids[collection])): User & Post {
    const declared = fieldsIn(declaredFields[collection])
      .filter(({ isUnique }) => this.#chance(isUnique ? 0.2 : 0.5))
      .map(({ name, type }) => [name, this.#chance(0.9) ? this.#pick(declaredPools[type]) : null]);
    const common = { id, createdAt: this.#pick(moments), updatedAt: this.#pick(moments) };
    const own =
      collection === 'users'
        ? user({ name: this.#pick(texts), email: this.#maybe(this.#pick(emails)) ?? null })
        : post({
            title: this.#pick(texts),
            body: this.#pick(texts).repeat(this.#randomBelow(20)),
            authorId: this.#maybe(this.#pick(ids.users)) ?? null,
            publishedAt: this.#maybe(this.#pick(moments)) ?? null,
          });
    const recent = this.#chance(0.4) ? this.#pick(this.#recent[collection]) : {};
    const repeated = Object.entries(recent ?? {}).filter(() => this.#chance(0.4));
    const record = { ...own, ...Object.fromEntries([...declared, ...repeated]), ...common };
    this.#remember(collection, record);
    return record as User & Post;
  }

  #remember(collection: Collection, record: object | undefined): void {
    if (record) this.#recent[collection].unshift(record as Entity);
    this.#recent[collection].splice(4);
  }

  /** An id from the pool, usually one that exists (or, if `exists` is false, one that doesn't). */
  async #id(collection: Collection, exists = true): Promise<Id> {
    let id: Id;
    do id = this.#pick(ids[collection]);
    while (
      this.#chance(0.7) &&
      ((await this.#memory[collection].get(id)) !== undefined) !== exists
    );
    return id;
  }

  #receipt(): Receipt {
    const key = digest(this.#randomBelow(4));
    const fingerprint = digest(-this.#pick([1, 1, 2]));
    // Some begin when the earlier one with their key ends, or one millisecond before.
    const end = this.#receipts.get(key);
    const edge =
      end === undefined ? 0 : instantToMs(end) - instantToMs(at(0)) - this.#randomBelow(2);
    if (this.#chance(0.2)) this.#now = Math.max(this.#now, edge);
    const until = this.#now + this.#pick([1000, 20_000, 400_000]);
    return { key, fingerprint, from: at(this.#now), until: at(until) };
  }

  #limits() {
    const { bytes } = pageLimits;
    return { limit: this.#pick([1, 2, 3, 1000]), bytes: this.#pick([1, 500, bytes, bytes]) };
  }

  /** At most three of the values. */
  #some<T>(values: readonly T[]): T[] {
    return [...new Set(times(this.#pick([0, 1, 1, 2, 3]), () => this.#pick(values)))];
  }

  #maybe<T>(value: T): T | undefined {
    return this.#chance(0.5) ? value : undefined;
  }

  #chance(share: number): boolean {
    return this.#randomBelow(1000) < share * 1000;
  }

  #pick<T>(values: readonly T[]): T {
    return values[this.#randomBelow(values.length)] as T;
  }

  /** Mulberry32: its quality suffices, and it is the same everywhere. */
  #randomBelow(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % limit;
  }
}

/** The fields that a collection can be sorted by. */
function sortable(collection: Collection): readonly QueryField[] {
  const declared = fieldsIn(declaredFields[collection]).filter(isSortable);
  return [
    ...Object.values<string>(sorts[collection]).map((field) => ({ field })),
    ...declared.map(({ name, type }) => ({ field: name, declaredType: type })),
  ];
}

function nameOf(collection: Collection, { field, declaredType }: QueryField): string {
  return `${collection} ${declaredType} ${field}`;
}
