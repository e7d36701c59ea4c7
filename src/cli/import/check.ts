import { systemClock, uuidV7 } from '../../adapters/system/index.ts';
import { itself } from '../../domain/access.ts';
import { type CustomFilters, declaredFields } from '../../domain/declared-fields.ts';
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
import { codePoints, isCleanText } from '../../domain/text.ts';
import type { TransformContext } from '../../import.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Repository } from '../../ports/repository.ts';
import type { Store } from '../../ports/store.ts';

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

/** A candidate, as far as it can be told without other records. */
interface Made {
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

/** A value that no other record of the list can have. */
interface UniqueValue {
  readonly key: string;
  readonly conditions: readonly Condition[];
  readonly taken: readonly FieldIssue[];
}

/** A candidate, with what the store has of its id, author and unique values. */
interface Found extends Made {
  readonly list: Collection;
  readonly stored: Entity | 'deleted' | undefined;
  readonly storedAuthor: Id | undefined;
  readonly uniques: readonly (UniqueValue & { readonly holder: Id | undefined })[];
}

type Author = NonNullable<Made['author']>;
type Input = Record<string, unknown>;

const longestId = 255;

export const idTaken = {
  pointer: '/id',
  code: 'taken',
  message: 'Another record has this id.',
} as const;

/** Checks the records of a file, by the rules of the API. */
export class Check {
  readonly #store: Store;
  readonly #options: CheckOptions;
  readonly #models: Readonly<Record<Collection, RecordModel<Entity>>>;
  /** The ids of the file that others can name, and what they become; null for a refused record. */
  readonly #ids = { users: new Map<Id, Id | null>(), posts: new Map<Id, Id | null>() };
  /** The records of the file, by the keys of their unique values. */
  readonly #holders = new Map<string, Id>();
  /** The authors that were looked for in the store. */
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
    const found = await Promise.all(batch.map((one) => this.#lookUp(one.list, this.#make(one))));
    return found.map((one) => this.#judge(one));
  }

  async #lookUp(list: Collection, made: Made): Promise<Found> {
    const { kept, author, record } = made;
    const [stored, storedAuthor, uniques] = await Promise.all([
      kept === undefined ? undefined : this.#storedAs(list, kept),
      author && this.#authorInStore(author),
      Promise.all(
        (record ? this.#uniqueValues(list, record) : []).map(async (unique) => {
          return { ...unique, holder: await this.#find(list, unique.conditions) };
        }),
      ),
    ]);
    return { ...made, list, stored, storedAuthor, uniques };
  }

  #judge(found: Found): Verdict {
    const { list, given, kept, author, stored, uniques } = found;
    if (stored === 'deleted') return { kind: 'deleted' };
    const issues = [...found.issues];
    const authorId = author && this.#authorOf(author, found.storedAuthor);
    if (author !== undefined && authorId === undefined) issues.push(unknownAuthorIssue);
    const ids = this.#ids[list];
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
        if (isOthers || this.#holders.has(key)) issues.push(...taken);
      }
    }
    if (record === undefined || issues.length > 0) {
      if (named !== undefined && !ids.has(named)) ids.set(named, null);
      return { kind: 'refused', issues };
    }
    if (named !== undefined) ids.set(named, id);
    for (const { key } of uniques) this.#holders.set(key, id);
    return isThere ? { kind: 'there' } : { kind: 'good', record };
  }

  async #storedAs(list: Collection, id: Id): Promise<Entity | 'deleted' | undefined> {
    const records: Pick<Repository<Entity>, 'get' | 'lastVersion'> = this.#store[list];
    if ((await records.lastVersion(id)) === undefined) return undefined;
    const found = await records.get(id);
    if (found !== undefined) return found.record;
    return this.#options.restoreDeleted ? undefined : 'deleted';
  }

  /** The address of a user, and the unique fields that the deployment declares. */
  #uniqueValues(list: Collection, record: Entity): readonly UniqueValue[] {
    const own = declaredFields(this.#options.customFilters?.[list]).filter((one) => one.isUnique);
    const values = own.flatMap((declared): readonly UniqueValue[] => {
      const { name: field, type: custom } = declared;
      const value = customValue(record, declared);
      if (value === null) return [];
      const conditions = [{ field, custom, op: 'eq', value }] as const;
      const { issues: taken } = fieldTaken(field).details;
      return [{ key: `${list} ${field} ${value}`, conditions, taken }];
    });
    if (list === 'posts' || typeof record.email !== 'string') return values;
    const conditions = filters.users.email.conditions(record.email) ?? [];
    const { issues: taken } = emailTaken().details;
    return [{ key: holderOfAddress(record.email), conditions, taken }, ...values];
  }

  async #find(list: Collection, conditions: readonly Condition[]): Promise<Id | undefined> {
    const order = { field: 'createdAt', direction: 'desc' } as const;
    const found = await this.#store[list].list({ conditions, order, limit: 1, bytes: 1 });
    return found.items[0]?.record.id;
  }

  #authorInStore({ by, text }: Author): Promise<Id | undefined> {
    const key = `${by} ${by === 'id' ? text : emailKey(text)}`;
    const find = async () => {
      if (!isCleanText(text)) return undefined;
      if (by === 'id') return (await this.#store.users.get(text))?.record.id;
      return this.#find('users', filters.users.email.conditions(text) ?? []);
    };
    const found = this.#authors.get(key) ?? find();
    this.#authors.set(key, found);
    return found;
  }

  /** A user of the file, or else the one of the store. */
  #authorOf({ by, text }: Author, inStore: Id | undefined): Id | undefined {
    if (by === 'email') return this.#holders.get(holderOfAddress(text)) ?? inStore;
    const id = this.#ids.users.get(text);
    // An id that is kept may be that of a user of the store, who is refused a second time.
    return id === null && !this.#options.keepIds ? undefined : (id ?? inStore);
  }

  #make({ list, value, problem }: Candidate): Made {
    const { keepIds, drafts = false, instant, clock = systemClock } = this.#options;
    const issues = new Issues();
    if (problem !== undefined) {
      issues.add([], 'invalid', problem);
      return { issues: issues.list };
    }
    if (!isPlainObject(value)) {
      issues.add([], 'type', 'A record must be a JSON object.');
      return { issues: issues.list };
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
    for (const [name, { type }] of Object.entries(rules[list])) {
      const isDraft = drafts && type === 'instant' && input[name] === undefined;
      if (type === 'text' || !(isDraft || Object.hasOwn(input, name))) continue;
      if (isNothing(input[name])) input[name] = null;
      else if (type === 'instant') input[name] = readTime(name);
    }
    const given = idOf(input, 'id', issues);
    if (keepIds) checkId(input.id, given, issues);
    const [created, updated] = keepIds ? [readTime('createdAt'), readTime('updatedAt')] : [];
    const createdAt = created ?? updated ?? clock.now();
    const updatedAt = updated ?? createdAt;
    if (updatedAt < createdAt) {
      issues.add(['updatedAt'], 'invalid', 'A record cannot be updated before it is created.');
    }
    const made = {
      given: given || undefined,
      kept: keepIds && !issues.has('id') ? given : undefined,
      author: list === 'posts' ? takeAuthor(input, issues) : undefined,
      hasTimes: (created ?? updated) !== undefined,
    };
    try {
      const record = { ...this.#models[list].make(input, '', createdAt), updatedAt };
      if (issues.list.length === 0) return { ...made, record, issues: [] };
      return { ...made, issues: issues.list };
    } catch (error) {
      if (!isRostrumError(error, 'invalid-record')) throw error;
      // What could not be read is told once.
      const told = new Set(issues.list.map(({ pointer }) => pointer));
      const others = error.details.issues.filter(({ pointer }) => !told.has(pointer));
      return { ...made, issues: [...issues.list, ...others] };
    }
  }
}

function holderOfAddress(email: string): string {
  return `users email ${emailKey(email)}`;
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
function idOf(input: Input, name: string, issues: Issues): Id | undefined {
  const value = Object.hasOwn(input, name) ? input[name] : undefined;
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') return undefined;
  if (Number.isSafeInteger(value)) return String(value);
  const message = 'A number that is an id must be an integer within ±(2^53 − 1).';
  issues.add([name], 'number-range', message);
  return undefined;
}

function checkId(value: unknown, given: Id | undefined, issues: Issues): void {
  if (value === undefined || value === null || issues.has('id')) return;
  if (given === undefined) issues.add(['id'], 'type', 'An id must be a text or an integer.');
  else if (codePoints(given) > longestId) {
    issues.add(['id'], 'too-long', `An id must have at most ${longestId} characters.`);
  } else if (['', '.', '..', itself].includes(given) || !isCleanText(given)) {
    issues.add(['id'], 'invalid', `An id must not be empty, ".", ".." or "${itself}".`);
  }
}

/** Takes the author out of an input, if its form is right. */
function takeAuthor(input: Input, issues: Issues): Author | undefined {
  const email = isPlainObject(input.authorId) ? input.authorId.email : undefined;
  const text = typeof email === 'string' ? email.trim() : idOf(input, 'authorId', issues);
  if (text === undefined) return undefined;
  input.authorId = null;
  return isNothing(text) ? undefined : { by: typeof email === 'string' ? 'email' : 'id', text };
}
