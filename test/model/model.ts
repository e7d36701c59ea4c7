import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import type { Condition, Kind, ListCall } from './calls.ts';
import type { Outcome } from './outcome.ts';
import { emailKeyOf, judge, judgeJson, merge, tooDeep } from './rules.ts';

interface Stored {
  readonly record: JsonObject;
  readonly version: number;
}

interface Claimed {
  readonly body: JsonObject;
  readonly stored: Stored;
  readonly until: number;
}

const day = 24 * 60 * 60 * 1000;
const instant = (ms: number) => new Date(ms).toISOString();
const failed = (error: string, more: object = {}): Outcome => ({ error, ...more });

/** A pure model of the contract: what every call has to answer, given all calls before it. */
export class Model {
  /** Far ahead, so that no sweep of a store that goes by the real time takes a claim away. */
  #now = Date.parse('2100-01-01T00:00:00.000Z');
  /** When the last claim that is over was over. */
  #lastExpiry = 0;
  /** Every id that was ever made, the youngest last. */
  readonly made: Record<Kind, string[]> = { users: [], posts: [] };
  readonly #stored = { users: new Map<string, Stored>(), posts: new Map<string, Stored>() };
  readonly #claims = { users: new Map<string, Claimed>(), posts: new Map<string, Claimed>() };

  get now(): number {
    return this.#now;
  }

  /** Moves the clock; not back over the end of a claim, which may be forgotten for good by now. */
  tick(ms: number): void {
    this.#now = Math.max(this.#now + ms, ms < 0 ? this.#lastExpiry : 0);
    for (const { until } of [...this.#claims.users.values(), ...this.#claims.posts.values()]) {
      if (until <= this.#now) this.#lastExpiry = Math.max(this.#lastExpiry, until);
    }
  }

  /** The ids of the records that there are, the youngest last. */
  alive(kind: Kind): string[] {
    return [...this.#stored[kind].keys()];
  }

  /** The keys that were used, with what they were used for. */
  used(kind: Kind): (readonly [key: string, body: JsonObject])[] {
    return [...this.#claims[kind]].map(([key, { body }]) => [key, body]);
  }

  /** @param id the id that the real thing will give, should it make a record */
  create(kind: Kind, input: JsonObject, id: string, key?: string): Outcome {
    const claim = key === undefined ? undefined : this.#claims[kind].get(key);
    if (claim !== undefined && claim.until > this.now) {
      if (!isDeepStrictEqual(claim.body, input)) return failed('idempotency-key-reused');
      return { made: claim.stored.record, version: 1, replayed: true };
    }
    const { fields, issues } = judge(kind, input);
    const wrong = this.#wrong(kind, id, fields, issues);
    if (wrong !== undefined) return wrong;
    const time = instant(this.now);
    const stored = { record: { ...fields, id, createdAt: time, updatedAt: time }, version: 1 };
    this.#stored[kind].set(id, stored);
    this.made[kind].push(id);
    if (key !== undefined) {
      this.#claims[kind].set(key, { body: input, stored, until: this.now + day });
    }
    return { made: stored.record, version: 1, replayed: false };
  }

  get(kind: Kind, id: string): Outcome {
    return this.#stored[kind].get(id) ?? this.#missing(kind);
  }

  replace(kind: Kind, id: string, input: JsonObject, condition: Condition): Outcome {
    return this.#change(kind, id, condition, () => judge(kind, input, id));
  }

  patch(kind: Kind, id: string, patch: JsonObject, condition: Condition): Outcome {
    return this.#change(kind, id, condition, ({ record }) => {
      if (tooDeep(patch)) return { fields: patch, issues: judgeJson(patch) };
      const merged = merge(record, patch) as JsonObject;
      return judge(kind, patch.id === null ? { ...merged, id: null } : merged, id);
    });
  }

  deleteUser(id: string, posts: 'refuse' | 'delete' | 'keep', condition: Condition): Outcome {
    const current = this.#stored.users.get(id);
    if (current === undefined) return this.#missing('users');
    const unmet = this.#unmet(condition, current);
    if (unmet !== undefined) return unmet;
    const theirs = [...this.#stored.posts].filter(([, post]) => post.record.authorId === id);
    if (posts === 'refuse' && theirs.length > 0) {
      return failed('user-has-posts', { posts: theirs.length });
    }
    for (const [postId, post] of theirs) {
      if (posts === 'delete') this.#stored.posts.delete(postId);
      else this.#stored.posts.set(postId, this.#next(post, { ...post.record, authorId: null }));
    }
    this.#stored.users.delete(id);
    return { deleted: true };
  }

  deletePost(id: string, condition: Condition): Outcome {
    const current = this.#stored.posts.get(id);
    if (current === undefined) return this.#missing('posts');
    const unmet = this.#unmet(condition, current);
    if (unmet !== undefined) return unmet;
    this.#stored.posts.delete(id);
    return { deleted: true };
  }

  list(call: ListCall): Outcome {
    const found = [...this.#stored[call.kind].values()].filter(({ record }) => {
      const at = (field: string) => Date.parse(String(record[field]));
      return (
        (call.ids === undefined || call.ids.includes(String(record.id))) &&
        (call.name === undefined || record.name === call.name) &&
        (call.title === undefined || record.title === call.title) &&
        (call.email === undefined ||
          (record.email !== null && emailKeyOf(String(record.email)) === emailKeyOf(call.email))) &&
        (call.authorId === undefined || record.authorId === call.authorId) &&
        (call.createdFrom === undefined || at('createdAt') >= call.createdFrom) &&
        (call.updatedBefore === undefined || at('updatedAt') < call.updatedBefore)
      );
    });
    // A missing email sorts as the empty text, which no email is.
    const key = (stored: Stored) => {
      const value = stored.record[call.sort] ?? '';
      return Buffer.from(call.sort === 'email' ? emailKeyOf(String(value)) : String(value));
    };
    const byId = (a: Stored, b: Stored) =>
      Buffer.compare(Buffer.from(String(a.record.id)), Buffer.from(String(b.record.id)));
    found.sort((a, b) => Buffer.compare(key(a), key(b)) || byId(a, b));
    if (call.descending) found.reverse();
    return { records: found.map(({ record }) => record), total: found.length };
  }

  #change(
    kind: Kind,
    id: string,
    condition: Condition,
    judged: (current: Stored) => { fields: JsonObject; issues: string[] },
  ): Outcome {
    const current = this.#stored[kind].get(id);
    if (current === undefined) return this.#missing(kind);
    const unmet = this.#unmet(condition, current);
    if (unmet !== undefined) return unmet;
    const { fields, issues } = judged(current);
    const wrong = this.#wrong(kind, id, fields, issues);
    if (wrong !== undefined) return wrong;
    const { createdAt, updatedAt } = current.record;
    const record = { ...fields, id, createdAt, updatedAt } as JsonObject;
    if (isDeepStrictEqual(record, { ...current.record })) return current;
    const stored = this.#next(current, record);
    this.#stored[kind].set(id, stored);
    return stored;
  }

  #next({ version, record: before }: Stored, record: JsonObject): Stored {
    const ms = Math.max(this.now, Date.parse(String(before.updatedAt)) + 1);
    return { version: version + 1, record: { ...record, updatedAt: instant(ms) } };
  }

  #unmet({ only, except }: Condition, { version }: Stored): Outcome | undefined {
    const within = (versions: readonly number[] | 'any') =>
      versions === 'any' || versions.includes(version);
    if ((only !== undefined && !within(only)) || (except !== undefined && within(except))) {
      return failed('version-mismatch', { version });
    }
    return undefined;
  }

  /** Fields that break a rule, an unknown author among them; then conflicts. */
  #wrong(kind: Kind, id: string, fields: JsonObject, issues: string[]): Outcome | undefined {
    const author: Json | undefined = kind === 'posts' ? fields.authorId : null;
    if (typeof author === 'string' && !this.#stored.users.has(author)) {
      if (!issues.some((issue) => issue.startsWith('/authorId '))) issues.push('/authorId unknown');
    }
    if (issues.length > 0) return failed('invalid-record', { issues: [...issues].sort() });
    const email = kind === 'users' ? fields.email : null;
    if (typeof email !== 'string') return undefined;
    const taken = [...this.#stored.users].some(
      ([other, { record }]) =>
        other !== id &&
        typeof record.email === 'string' &&
        emailKeyOf(record.email) === emailKeyOf(email),
    );
    return taken ? failed('email-taken', { issues: ['/email taken'] }) : undefined;
  }

  #missing(kind: Kind): Outcome {
    return failed(kind === 'users' ? 'user-not-found' : 'post-not-found');
  }
}
