import { systemClock, uuidV7 } from '../../adapters/system/index.ts';
import { isSubject, itself } from '../../domain/access.ts';
import {
  type CustomFilterFields,
  type CustomFilters,
  declaredFields,
} from '../../domain/declared-fields.ts';
import { emailKey } from '../../domain/email.ts';
import { emailTaken, fieldTaken, isRostrumError, unknownAuthorIssue } from '../../domain/errors.ts';
import { type FieldIssue, Issues } from '../../domain/issues.ts';
import { isPlainObject, jsonEqual } from '../../domain/json.ts';
import type { Condition } from '../../domain/list.ts';
import type { Collection, Entity, Id } from '../../domain/record.ts';
import { RecordModel } from '../../domain/record-model.ts';
import { rules } from '../../domain/rules.ts';
import { customValue, filters } from '../../domain/search.ts';
import type { CustomFieldsSchemas } from '../../domain/services/rostrum.ts';
import type { TransformContext } from '../../import.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Repository } from '../../ports/repository.ts';
import type { Store } from '../../ports/store.ts';
import { idTaken } from '../failure.ts';

export interface CheckOptions {
  /** Whether ids and times stay as they are in the file. */
  readonly keepIds: boolean;
  /** Whether records that were deleted from the store are added again, at the version after their last one. */
  readonly restoreDeleted?: boolean;
  /** Whether posts without `publishedAt` are drafts. */
  readonly drafts?: boolean;
  readonly instant: TransformContext['instant'];
  readonly customFields?: CustomFieldsSchemas | undefined;
  /** The fields that the deployment declares. */
  readonly customFilters?: CustomFilters | undefined;
  readonly clock?: Clock;
}

/** What is checked: a value, or the reason why a row has none. */
export interface Candidate {
  readonly list: Collection;
  readonly value?: unknown;
  readonly problem?: string | undefined;
}

/** A record to add; or one that an earlier import added, or somebody deleted from the store; or issues. */
export type Verdict =
  | { readonly kind: 'good'; readonly record: Entity }
  | { readonly kind: 'there' | 'deleted' }
  | { readonly kind: 'refused'; readonly issues: readonly FieldIssue[] };

/** What is known of a candidate without other records. */
interface Made {
  readonly list: Collection;
  /** The id that it has in the file. */
  readonly given?: Id | undefined;
  /** The id that the record keeps. */
  readonly kept?: Id | undefined;
  readonly author?: { readonly by: 'id' | 'email'; readonly text: string } | undefined;
  /** Whether the input says when the record was created or updated. */
  readonly hasTimes?: boolean;
  /** Without id and author. Absent when a rule refuses it. */
  readonly record?: Entity;
  readonly issues: readonly FieldIssue[];
}

/** The same, with what the store has of its id, author and unique values. */
interface Found extends Made {
  readonly stored: Entity | 'deleted' | undefined;
  readonly storedAuthor: Id | undefined;
  readonly uniques: readonly (UniqueValue & { readonly holder: Id | undefined })[];
}

/** A value that no other record of the list can have. */
interface UniqueValue {
  readonly key: string;
  readonly conditions: readonly Condition[] | undefined;
  readonly taken: readonly FieldIssue[];
}

/** Checks the records of a file, by the rules of the API. */
export class Check {
  readonly #store: Store;
  readonly #options: CheckOptions;
  readonly #models: Readonly<Record<Collection, RecordModel<Entity>>>;
  /** The ids of the file that others can name, and what they become; null for a refused record. */
  readonly #ids = { users: new Map<Id, Id | null>(), posts: new Map<Id, Id | null>() };
  /** Which record of the file has a unique value. */
  readonly #holders = { users: new Map<string, Id>(), posts: new Map<string, Id>() };
  /** Authors that were looked for in the store. Looking again for each post would cost 0.13 ms. */
  readonly #authors = new Map<string, Promise<Id | undefined>>();

  constructor(store: Store, options: CheckOptions) {
    const { customFields = {}, customFilters = {} } = options;
    this.#store = store;
    this.#options = options;
    this.#models = {
      users: new RecordModel<Entity>(rules.users, customFields.users, customFilters.users),
      posts: new RecordModel<Entity>(rules.posts, customFields.posts, customFilters.posts),
    };
  }

  /** Checks records against the store, and against the records before them, also of earlier calls. */
  async run(batch: readonly Candidate[]): Promise<Verdict[]> {
    const found = await Promise.all(batch.map((one) => this.#lookUp(this.#make(one))));
    return found.map((one) => this.#judge(one));
  }

  async #lookUp(made: Made): Promise<Found> {
    const { list, kept, author, record } = made;
    const unique = record === undefined ? [] : this.#uniqueValues(list, record);
    const [stored, storedAuthor, ...holders] = await Promise.all([
      kept === undefined ? undefined : this.#storedAs(list, kept),
      author && this.#authorInStore(author),
      ...unique.map(({ conditions }) => this.#find(list, conditions)),
    ]);
    const uniques = unique.map((one, i) => ({ ...one, holder: holders[i] }));
    return { ...made, stored, storedAuthor, uniques };
  }

  async #storedAs(list: Collection, id: Id): Promise<Entity | 'deleted' | undefined> {
    const records: Pick<Repository<Entity>, 'get' | 'lastVersion'> = this.#store[list];
    if ((await records.lastVersion(id)) === undefined) return undefined;
    const found = await records.get(id);
    if (found !== undefined) return found.record;
    return this.#options.restoreDeleted ? undefined : 'deleted';
  }

  async #find(list: Collection, conditions?: readonly Condition[]): Promise<Id | undefined> {
    if (conditions === undefined) return undefined;
    const order = { field: 'createdAt', direction: 'desc' } as const;
    const found = await this.#store[list].list({ conditions, order, limit: 1, bytes: 1 });
    return found.items[0]?.record.id;
  }

  #authorInStore(author: Author): Promise<Id | undefined> {
    const key = `${author.by} ${author.text}`;
    const found = this.#authors.get(key) ?? this.#find('users', authorConditions(author));
    this.#authors.set(key, found);
    return found;
  }

  #uniqueValues(list: Collection, record: Entity): readonly UniqueValue[] {
    const own = uniqueFields(record, this.#options.customFilters?.[list]);
    const { email } = record;
    if (list === 'posts' || typeof email !== 'string') return own;
    const conditions = filters.users.email.conditions(email);
    return [{ key: keyOf(email), conditions, taken: emailTaken().details.issues }, ...own];
  }

  #judge(found: Found): Verdict {
    const { list, given, kept, author, stored, uniques } = found;
    if (stored === 'deleted') return { kind: 'deleted' };
    const issues = [...found.issues];
    const authorId = author && this.#authorOf(author, found.storedAuthor);
    if (author !== undefined && authorId === undefined) issues.push(unknownAuthorIssue);
    const [ids, holders] = [this.#ids[list], this.#holders[list]];
    const id = kept ?? uuidV7.next();
    const record: Entity | undefined = found.record && { ...found.record, id };
    if (record && list === 'posts') Object.assign(record, { authorId: authorId ?? null });
    const named = list === 'users' || this.#options.keepIds ? given : undefined;
    const isTwice = named !== undefined && typeof ids.get(named) === 'string';
    const isThere = !isTwice && stored && record && isSame(stored, record, found.hasTimes);
    if (record !== undefined && !isThere) {
      if (isTwice || stored !== undefined) issues.push(idTaken);
      for (const { key, holder, taken } of uniques) {
        const isOthers = holder !== undefined && holder !== kept;
        if (isOthers || holders.has(key)) issues.push(...taken);
      }
    }
    if (record === undefined || issues.length > 0) {
      if (named !== undefined && !ids.has(named)) ids.set(named, null);
      return { kind: 'refused', issues };
    }
    if (named !== undefined) ids.set(named, id);
    for (const { key } of uniques) holders.set(key, id);
    return isThere ? { kind: 'there' } : { kind: 'good', record };
  }

  /** A user of the file, or else the one of the store. */
  #authorOf({ by, text }: Author, inStore: Id | undefined): Id | undefined {
    if (by === 'email') return this.#holders.users.get(keyOf(text)) ?? inStore;
    const id = this.#ids.users.get(text);
    // An id that is kept may be that of a user of the store, who is refused a second time.
    return id === null && !this.#options.keepIds ? undefined : (id ?? inStore);
  }

  #make({ list, value, problem }: Candidate): Made {
    const { keepIds, drafts = false, instant, clock = systemClock } = this.#options;
    const issues = new Issues();
    if (problem !== undefined || !isPlainObject(value)) {
      const code = problem === undefined ? 'type' : 'invalid';
      issues.add([], code, problem ?? 'A record must be a JSON object.');
      return { list, issues: issues.list };
    }
    const input: Input = { ...value };
    const readTime = (name: string) => {
      try {
        return isNothing(input[name]) ? undefined : instant(input[name]);
      } catch (error) {
        issues.add([name], 'invalid', (error as Error).message);
        return undefined;
      }
    };
    if (drafts && list === 'posts') input.publishedAt ??= null;
    for (const [name, { type }] of Object.entries(rules[list])) {
      if (type === 'text' || !Object.hasOwn(input, name)) continue;
      if (isNothing(input[name])) input[name] = null;
      else if (type === 'instant') input[name] = readTime(name);
    }
    const given = idOf(input.id);
    if (keepIds && (given === undefined ? !isNothing(input.id) : !isSubject(given))) {
      const form = 'a text of 1 to 255 characters without control characters, or an integer';
      issues.add(['id'], 'invalid', `An id must be ${form}, and not ".", ".." or "${itself}".`);
    }
    const [created, updated] = keepIds ? [readTime('createdAt'), readTime('updatedAt')] : [];
    const createdAt = created ?? updated ?? clock.now();
    const updatedAt = updated ?? createdAt;
    if (updatedAt < createdAt) {
      issues.add(['updatedAt'], 'invalid', 'A record cannot be updated before it is created.');
    }
    const made = {
      list,
      given: given || undefined,
      kept: keepIds && !issues.has('id') ? given : undefined,
      author: list === 'posts' ? takeAuthor(input) : undefined,
      hasTimes: (created ?? updated) !== undefined,
    };
    try {
      const record = { ...this.#models[list].create(input, '', createdAt), updatedAt };
      return { ...made, issues: issues.list, ...(issues.list.length === 0 && { record }) };
    } catch (error) {
      if (!isRostrumError(error, 'invalid-record')) throw error;
      return { ...made, issues: [...issues.list, ...error.details.issues] };
    }
  }
}

type Author = NonNullable<Made['author']>;
type Input = Record<string, unknown>;

/** The values of a record that a deployment declares to be unique. */
export function uniqueFields(record: Entity, declared?: CustomFilterFields) {
  return declaredFields(declared).flatMap((one) => {
    const value = one.isUnique ? customValue(record, one) : null;
    if (value === null) return [];
    const { name, type: custom } = one;
    const conditions = [{ field: name, custom, op: 'eq', value } as const];
    return [{ name, key: `${name} ${value}`, conditions, taken: fieldTaken(name).details.issues }];
  });
}

function keyOf(email: string): string {
  return `email ${emailKey(email)}`;
}

/** True for a record that is in the store as an earlier import of the file added it. */
function isSame(stored: Entity, record: Entity, hasTimes = false): boolean {
  const { createdAt, updatedAt } = stored;
  // A post of which the file does not say when it was published was so when it was created.
  const published = record.publishedAt === record.createdAt && { publishedAt: createdAt };
  return jsonEqual(stored, hasTimes ? record : { ...record, createdAt, updatedAt, ...published });
}

/** True for what databases and spreadsheets write where there is no value. */
function isNothing(value: unknown): boolean {
  if (typeof value !== 'string') return value === undefined || value === null;
  return /^(?:null|\\N|0000-00-00.*)?$/i.test(value.trim());
}

/** An id of the file as a text: a number is an id as well. */
function idOf(value: unknown): Id | undefined {
  if (typeof value === 'string') return value;
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

/** Takes the author out of an input, if its form is right. */
function takeAuthor(input: Input): Author | undefined {
  const email = isPlainObject(input.authorId) ? input.authorId.email : undefined;
  const text = typeof email === 'string' ? email.trim() : idOf(input.authorId);
  if (text === undefined) return undefined;
  input.authorId = null;
  return isNothing(text) ? undefined : { by: typeof email === 'string' ? 'email' : 'id', text };
}

function authorConditions({ by, text }: Author): readonly Condition[] | undefined {
  return by === 'id' ? filters.users.ids.conditions([text]) : filters.users.email.conditions(text);
}
