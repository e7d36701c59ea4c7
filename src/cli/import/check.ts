import { systemClock, uuidV7 } from '../../adapters/system/index.ts';
import { emailTaken, unknownAuthorIssue } from '../../domain/errors.ts';
import type { FieldIssue } from '../../domain/issues.ts';
import { jsonEqual } from '../../domain/json.ts';
import { newestFirst } from '../../domain/list.ts';
import type { Collection, Entity, Id } from '../../domain/record.ts';
import { RecordModel } from '../../domain/record-model.ts';
import { rules } from '../../domain/rules.ts';
import type { CustomFieldsSchemas } from '../../domain/services/rostrum.ts';
import { isCleanText, textKey } from '../../domain/text.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Repository } from '../../ports/repository.ts';
import type { Store } from '../../ports/store.ts';
import { type Made, type Making, makeRecord } from './record.ts';

export interface CheckOptions extends Making {
  /** The deployment's schemas. */
  readonly customFields?: CustomFieldsSchemas | undefined;
  readonly clock?: Clock;
}

/** A record of a file, or a sentence that says why there is none. */
export interface CheckInput {
  readonly list: Collection;
  readonly value?: unknown;
  readonly problem?: string | undefined;
}

/** What is to be done with a record. */
export type Verdict =
  | { readonly kind: 'good'; readonly record: Entity }
  /** An earlier import has added it. */
  | { readonly kind: 'there' }
  /** It was deleted from the store. */
  | { readonly kind: 'deleted' }
  | { readonly kind: 'refused'; readonly issues: readonly FieldIssue[] };

const idTaken = { pointer: '/id', code: 'taken', message: 'Another record has this id.' } as const;

/** Checks the records of a file, by the rules of the API. */
export class Check {
  readonly #store: Store;
  readonly #options: CheckOptions;
  readonly #models: Readonly<Record<Collection, RecordModel<Entity>>>;
  /** The ids of the file that others can name, and what they become; null for a refused record. */
  readonly #ids = { users: new Map<Id, Id | null>(), posts: new Map<Id, Id | null>() };
  /** The users of the file, by the keys of their email addresses. */
  readonly #emails = new Map<string, Id>();
  /** The authors that were looked for in the store. */
  readonly #authors = new Map<string, Promise<Id | undefined>>();
  #before: Promise<unknown> = Promise.resolve();

  constructor(store: Store, options: CheckOptions) {
    const { users, posts } = options.customFields ?? {};
    this.#store = store;
    this.#options = options;
    this.#models = {
      users: new RecordModel<Entity>(rules.users, users),
      posts: new RecordModel<Entity>(rules.posts, posts),
    };
  }

  /** Checks a record against the store, and against those for which this was called before. */
  run(input: CheckInput): Promise<Verdict> {
    const verdict = this.#check(input, this.#before);
    this.#before = verdict;
    return verdict;
  }

  async #check({ list, value, problem }: CheckInput, before: Promise<unknown>): Promise<Verdict> {
    const { clock = systemClock, keepIds } = this.#options;
    const made: Made =
      problem === undefined
        ? makeRecord(list, value, this.#models[list], clock.now(), this.#options)
        : { issues: [{ pointer: '', code: 'invalid', message: problem }] };
    const { kept, author } = made;
    const address = list === 'users' ? made.record?.email : undefined;
    const email = typeof address === 'string' ? textKey(address) : undefined;
    const [stored, holder, known] = await Promise.all([
      kept === undefined ? undefined : this.#storedAs(list, kept),
      typeof address === 'string' ? this.#userWith(address) : undefined,
      author && this.#authorInStore(author),
    ]);
    await before;
    // From here on, in the order of the file.
    if (stored === 'deleted') return { kind: 'deleted' };
    const issues = [...made.issues];
    const authorId = author && this.#authorOf(author, known);
    if (author !== undefined && authorId === undefined) issues.push(unknownAuthorIssue);
    const ids = this.#ids[list];
    const id = kept ?? uuidV7.next();
    const record: Entity | undefined = made.record && { ...made.record, id };
    if (record && list === 'posts') Object.assign(record, { authorId: authorId ?? null });
    const given = list === 'users' || keepIds ? made.given : undefined;
    const isTwice = given !== undefined && typeof ids.get(given) === 'string';
    const isThere = !isTwice && stored && record && isSame(stored, record, made.hasTimes);
    if (record !== undefined && !isThere) {
      if (isTwice || stored !== undefined) issues.push(idTaken);
      const isOthers = holder !== undefined && holder !== kept;
      const isTaken = email !== undefined && (isOthers || this.#emails.has(email));
      if (isTaken) issues.push(...emailTaken().details.issues);
    }
    if (record === undefined || issues.length > 0) {
      if (given !== undefined && !ids.has(given)) ids.set(given, null);
      return { kind: 'refused', issues };
    }
    if (given !== undefined) ids.set(given, id);
    if (email !== undefined) this.#emails.set(email, id);
    return isThere ? { kind: 'there' } : { kind: 'good', record };
  }

  async #storedAs(list: Collection, id: Id): Promise<Entity | 'deleted' | undefined> {
    const records: Pick<Repository<Entity, never, never>, 'get' | 'isIdTaken'> = this.#store[list];
    if (!(await records.isIdTaken(id))) return undefined;
    return (await records.get(id))?.record ?? 'deleted';
  }

  async #userWith(email: string): Promise<Id | undefined> {
    const request = { filter: { email }, order: newestFirst, limit: 1, bytes: 1 } as const;
    return (await this.#store.users.list(request)).items[0]?.record.id;
  }

  #authorInStore({ by, text }: NonNullable<Made['author']>): Promise<Id | undefined> {
    const key = `${by} ${by === 'id' ? text : textKey(text)}`;
    const known = this.#authors.get(key);
    if (known !== undefined) return known;
    const find = async () => {
      if (!isCleanText(text)) return undefined;
      return by === 'email' ? this.#userWith(text) : (await this.#store.users.get(text))?.record.id;
    };
    const found = find();
    this.#authors.set(key, found);
    return found;
  }

  /** A user of the file, or else the one of the store. */
  #authorOf({ by, text }: NonNullable<Made['author']>, inStore: Id | undefined): Id | undefined {
    if (by === 'email') return this.#emails.get(textKey(text)) ?? inStore;
    const id = this.#ids.users.get(text);
    // An id that is kept may be that of a user of the store, who is refused a second time.
    return id === null && !this.#options.keepIds ? undefined : (id ?? inStore);
  }
}

/** True for a record that is in the store as an earlier import of the file added it. */
function isSame(stored: Entity, record: Entity, hasTimes = false): boolean {
  const { createdAt, updatedAt } = stored;
  // A post of which the file does not say when it was published was so when it was created.
  const published = record.publishedAt === record.createdAt && { publishedAt: createdAt };
  return jsonEqual(stored, hasTimes ? record : { ...record, createdAt, updatedAt, ...published });
}
