import { isDeepStrictEqual } from 'node:util';
import type {
  CreateOptions,
  DeleteUserOptions,
  JsonObject,
  Precondition,
  TimeSpan,
} from '../../src/index.ts';
import type { Calls, Change, Failure, Filter, ListCall, Outcome, Page, Resource } from './calls.ts';
import { emailKeyOf, judge, judgeJson, merge } from './rules.ts';

interface Stored {
  readonly record: JsonObject;
  readonly version: number;
}

interface Made {
  readonly options: CreateOptions;
  readonly input: JsonObject;
  readonly stored: Stored;
  readonly until: number;
}

const day = 24 * 60 * 60 * 1000;
const pageBytes = 2 * 1024 * 1024;
const instant = (ms: number) => new Date(ms).toISOString();
const failed = (error: string, more: Omit<Failure, 'error'> = {}): Failure => ({ error, ...more });
const missing = (resource: Resource) =>
  failed(resource === 'users' ? 'user-not-found' : 'post-not-found');

/** A pure model of the contract: the outcome of every call, given all calls before it. */
export class Model implements Calls<Outcome> {
  /** Far ahead, so that no sweep of a store that goes by the real time takes a receipt away. */
  #now = Date.parse('2100-01-01T00:00:00.000Z');
  #creations = 1;
  /** Every id that was ever made, the youngest last. */
  readonly made: Record<Resource, string[]> = { users: [], posts: [] };
  readonly #stored = { users: new Map<string, Stored>(), posts: new Map<string, Stored>() };
  readonly #receipts = { users: new Map<string, Made>(), posts: new Map<string, Made>() };

  get now(): number {
    return this.#now;
  }

  /** The id of the next creation. The order of ids is not the order in which they are made. */
  get nextId(): string {
    const n = this.#creations;
    return `${String((n * 7919) % 100_003).padStart(6, '0')}-${n}`;
  }

  /** Moves the clock; not back over the end of a receipt, which may be forgotten for good by now. */
  tick(ms: number): void {
    const receipts = [...this.#receipts.users.values(), ...this.#receipts.posts.values()];
    const ends = receipts.map(({ until }) => until).filter((until) => until <= this.#now);
    this.#now = Math.max(this.#now + ms, ...(ms < 0 ? ends : []));
  }

  /** The ids of the records that there are, the youngest last. */
  alive(resource: Resource): string[] {
    return [...this.#stored[resource].keys()];
  }

  /** The creations that made a receipt. */
  receiptsOf(resource: Resource): Made[] {
    return [...this.#receipts[resource].values()];
  }

  create(resource: Resource, input: JsonObject, options: CreateOptions): Outcome {
    const id = this.nextId;
    this.#creations += 1;
    const { fields, issues } = judge(resource, input);
    if (issues.length > 0) return this.#wrong(resource, id, fields, issues) as Outcome;
    const key = JSON.stringify([options.caller, options.idempotencyKey]);
    const receipt = this.#receipts[resource].get(key);
    if (receipt !== undefined && receipt.until > this.now) {
      if (!isDeepStrictEqual(receipt.input, input)) return failed('idempotency-key-reused');
      return { ...receipt.stored, replayed: true };
    }
    const wrong = this.#wrong(resource, id, fields, issues);
    if (wrong !== undefined) return wrong;
    const time = instant(this.now);
    const stored = { record: { ...fields, id, createdAt: time, updatedAt: time }, version: 1 };
    this.#stored[resource].set(id, stored);
    this.made[resource].push(id);
    if (options.idempotencyKey !== undefined) {
      this.#receipts[resource].set(key, { options, input, stored, until: this.now + day });
    }
    return { ...stored, replayed: false };
  }

  get(resource: Resource, id: string): Outcome {
    return this.#stored[resource].get(id) ?? missing(resource);
  }

  change(
    how: Change,
    resource: Resource,
    id: string,
    input: JsonObject,
    precondition: Precondition,
  ): Outcome {
    const current = this.#found(resource, id, precondition);
    if ('error' in current) return current;
    const { fields, issues } = judgeChange(how, resource, current.record, input);
    const wrong = this.#wrong(resource, id, fields, issues);
    if (wrong !== undefined) return wrong;
    const { createdAt, updatedAt } = current.record;
    const record = { ...fields, id, createdAt, updatedAt } as JsonObject;
    return isDeepStrictEqual(record, current.record)
      ? current
      : this.#store(resource, current, record);
  }

  delete(resource: Resource, id: string, options: DeleteUserOptions): Outcome {
    const current = this.#found(resource, id, options);
    if ('error' in current) return current;
    const { posts = 'refuse' } = options;
    const theirs = [...this.#stored.posts].filter(([, { record }]) => record.authorId === id);
    if (posts === 'refuse' && theirs.length > 0) {
      return failed('user-has-posts', { posts: theirs.length });
    }
    for (const [postId, post] of theirs) {
      if (posts === 'delete') this.#stored.posts.delete(postId);
      else this.#store('posts', post, { ...post.record, authorId: null });
    }
    this.#stored[resource].delete(id);
    return { deleted: true };
  }

  list(resource: Resource, { filter, order, limit }: ListCall): Outcome {
    const records = [...this.#stored[resource].values()].map(({ record }) => record);
    const found = records.filter((record) => matches(record, filter));
    const bytes = (text: unknown) => Buffer.from(String(text));
    const key = (record: JsonObject) => bytes(sortKeyOf(record, order.by));
    found.sort(
      (a, b) => Buffer.compare(key(a), key(b)) || Buffer.compare(bytes(a.id), bytes(b.id)),
    );
    if (order.direction === 'desc') found.reverse();
    return { pages: pagesOf(found, limit) };
  }

  #store(resource: Resource, { version, record: before }: Stored, record: JsonObject): Stored {
    const ms = Math.max(this.now, Date.parse(String(before.updatedAt)) + 1);
    const stored = { version: version + 1, record: { ...record, updatedAt: instant(ms) } };
    this.#stored[resource].set(String(record.id), stored);
    return stored;
  }

  /** What is stored, where there is such a record and the precondition holds. */
  #found(resource: Resource, id: string, precondition: Precondition): Stored | Failure {
    const { only = 'any', except = [] } = precondition;
    const current = this.#stored[resource].get(id);
    if (current === undefined) return missing(resource);
    const { version } = current;
    const isIn = (versions: typeof only) => versions === 'any' || versions.includes(version);
    if (isIn(only) && !isIn(except)) return current;
    return failed('version-mismatch', { version });
  }

  /** Fields that break a rule, an unknown author among them; then conflicts. */
  #wrong(resource: Resource, id: string, fields: JsonObject, issues: string[]) {
    const { authorId, email } = fields;
    if (resource === 'posts' && typeof authorId === 'string' && !this.#stored.users.has(authorId)) {
      if (!issues.some((issue) => issue.startsWith('/authorId '))) issues.push('/authorId unknown');
    }
    if (issues.length > 0) return failed('invalid-record', { issues: [...issues].sort() });
    if (resource === 'posts' || typeof email !== 'string') return undefined;
    const taken = [...this.#stored.users].some(
      ([other, { record }]) => other !== id && sortKeyOf(record, 'email') === emailKeyOf(email),
    );
    return taken ? failed('email-taken', { issues: ['/email taken'] }) : undefined;
  }
}

function judgeChange(how: Change, resource: Resource, record: JsonObject, input: JsonObject) {
  const id = String(record.id);
  if (how === 'replace') return judge(resource, input, id);
  if (how === 'update') return judge(resource, { ...record, ...input }, id);
  // A patch that is too deep is judged by itself: it is never merged.
  const issues = judgeJson(input);
  if (issues.some((issue) => issue.endsWith(' too-deep'))) return { fields: input, issues };
  const merged = merge(record, input) as JsonObject;
  return judge(resource, input.id === null ? { ...merged, id: null } : merged, id);
}

function matches(record: JsonObject, { ids, createdAt, updatedAt, email, ...exact }: Filter) {
  const isIn = (at: unknown, { from, before }: TimeSpan = {}) =>
    (from === undefined || String(at) >= from) && (before === undefined || String(at) < before);
  return (
    (ids === undefined || ids.includes(String(record.id))) &&
    isIn(record.createdAt, createdAt) &&
    isIn(record.updatedAt, updatedAt) &&
    (email === undefined || sortKeyOf(record, 'email') === emailKeyOf(email)) &&
    Object.entries(exact).every(([name, value]) => value === undefined || record[name] === value)
  );
}

/** A missing email has the key of the empty text, which no email has. */
function sortKeyOf(record: JsonObject, by: string): string {
  return by === 'email' ? emailKeyOf(String(record.email ?? '')) : String(record[by]);
}

function pagesOf(found: readonly JsonObject[], limit: number): Page[] {
  const pages: JsonObject[][] = [[]];
  let size = 0;
  for (const record of found) {
    const bytes = Buffer.byteLength(JSON.stringify(record));
    size += bytes;
    const page = pages.at(-1);
    if (page === undefined || page.length === limit || (page.length > 0 && size > pageBytes)) {
      pages.push([record]);
      size = bytes;
    } else page.push(record);
  }
  return pages.map((records) => ({ records, total: found.length }));
}
