import { systemClock, uuidV7 } from '../../adapters/system/index.ts';
import { isId, selfAlias } from '../../domain/access/access.ts';
import { emailTaken, fieldTaken, RostrumError, unknownAuthorIssue } from '../../domain/errors.ts';
import {
  type DeclaredFields,
  type FieldDeclarations,
  fieldsIn,
} from '../../domain/fields/declared-fields.ts';
import { emailKey } from '../../domain/fields/email.ts';
import type { FieldIssue } from '../../domain/fields/issues.ts';
import { rules } from '../../domain/fields/rules.ts';
import type { Condition } from '../../domain/lists/list.ts';
import { declaredValue, filters } from '../../domain/lists/search.ts';
import { jsonEqual } from '../../domain/records/json.ts';
import type { Collection, Entity, Id } from '../../domain/records/record.ts';
import { RecordModel } from '../../domain/records/record-model.ts';
import type { CustomFieldsSchemas } from '../../domain/services/rostrum.ts';
import type { TransformContext } from '../../import.ts';
import type { Repository } from '../../ports/repository.ts';
import type { Store } from '../../ports/store.ts';
import { conflictOf, Failure, idTaken } from '../failure.ts';
import { quoted } from '../output.ts';
import type { ListRow } from './data-file.ts';

export interface CheckOptions {
  /** Whether records keep the ids and times of the file. */
  readonly keepIds?: boolean;
  /** Whether records that were deleted from the store are added again. */
  readonly restoreDeleted?: boolean;
  /** Whether posts without `publishedAt` are drafts. */
  readonly drafts?: boolean;
  readonly instant: TransformContext['instant'];
  readonly customFields?: CustomFieldsSchemas | undefined;
  readonly declaredFields?: DeclaredFields | undefined;
}

type Verdict =
  | { readonly kind: 'good'; readonly record: Entity }
  /** The store has the same record, or the record was deleted from it. */
  | { readonly kind: 'there' | 'deleted' }
  | { readonly kind: 'rejected'; readonly issues: readonly FieldIssue[] };

type Input = Record<string, unknown>;

/**
 * Creates a function that checks records by the rules of the API: against the store, and against all
 * records that were checked before them.
 */
export function createCheck(store: Store, options: CheckOptions) {
  const { keepIds, restoreDeleted, drafts, instant } = options;
  const { customFields = {}, declaredFields = {} } = options;
  const models = {
    users: new RecordModel<Entity>(rules.users, customFields.users, declaredFields.users),
    posts: new RecordModel<Entity>(rules.posts, customFields.posts, declaredFields.posts),
  };
  /** The new ids of records, by their unique values and their ids in the file; null if rejected. */
  const known = { users: new Map<string, Id | null>(), posts: new Map<string, Id | null>() };
  /** Authors in the store. Looking up each author only once saves 0.13 ms a post. */
  const authors = new Map<string, Promise<Id | undefined>>();

  const find = async (list: Collection, conditions?: readonly Condition[]) => {
    if (conditions === undefined) return undefined;
    const order = { field: 'createdAt', direction: 'desc' } as const;
    const found = await store[list].list({ conditions, order, limit: 1, bytes: 1 });
    return found.items[0]?.record.id;
  };

  const storedAs = async (list: Collection, id: Id): Promise<Entity | 'deleted' | undefined> => {
    const records: Pick<Repository<Entity>, 'get' | 'lastVersion'> = store[list];
    if ((await records.lastVersion(id)) === undefined) return undefined;
    const found = await records.get(id);
    if (found !== undefined) return found.record;
    return restoreDeleted ? undefined : 'deleted';
  };

  const authorInStore = ({ key, conditions }: Author) => {
    const found = authors.get(key) ?? find('users', conditions);
    authors.set(key, found);
    return found;
  };

  /** Makes a record, still without its author. @throws Error with a sentence, or `invalid-record` */
  const make = (list: Collection, input: Input): Entity => {
    const readTime = (name: string) => {
      try {
        return isNothing(input[name]) ? null : instant(input[name]);
      } catch (error) {
        throw error instanceof Failure ? error : invalidField(name, (error as Error).message);
      }
    };
    if (drafts && list === 'posts') input.publishedAt ??= null;
    for (const [name, { type }] of Object.entries(rules[list])) {
      if (type === 'text' || !Object.hasOwn(input, name)) continue;
      if (type === 'instant') input[name] = readTime(name);
      else if (isNothing(input[name])) input[name] = null;
    }
    const given = (keepIds ? input.id : undefined) ?? undefined;
    if (given !== undefined && !isId(idOf(given) ?? '')) {
      throw invalidField('id', `${quoted(given)} cannot be an id: ${idRule}.`);
    }
    const [created, updated] = keepIds ? [readTime('createdAt'), readTime('updatedAt')] : [];
    const createdAt = created ?? updated ?? systemClock.now();
    const made = models[list].create(input, idOf(given) ?? uuidV7.next(), createdAt);
    return { ...made, updatedAt: updated ?? createdAt };
  };

  /** Makes a record, looks up what the store has, and returns the function that judges the record. */
  const prepare = async ({ list, value, problem }: ListRow): Promise<() => Verdict> => {
    const input: Input = { ...Object(value) };
    const given = idOf(input.id);
    const idKey = given && (keepIds || list === 'users') ? `id ${given}` : undefined;
    const reject = (issues: readonly FieldIssue[]): Verdict => {
      if (idKey !== undefined && !known[list].has(idKey)) known[list].set(idKey, null);
      return { kind: 'rejected', issues };
    };
    const author = list === 'posts' ? takeAuthor(input) : undefined;
    let made: Entity;
    try {
      if (problem !== undefined) throw new Error(problem);
      made = make(list, input);
    } catch (error) {
      const issues = issuesOf(error);
      return () => reject(issues);
    }
    const uniques = uniqueValues(list, made, declaredFields[list]);
    const [stored, storedAuthor, ...holders] = await Promise.all([
      made.id === given ? storedAs(list, given) : undefined,
      author && authorInStore(author),
      ...uniques.map(({ conditions }) => find(list, conditions)),
    ]);
    return () => {
      if (stored === 'deleted') return { kind: 'deleted' };
      // A rejected user whose id would be kept can be in the store already.
      const inFile = author && known.users.get(author.key);
      const authorId = inFile === null && !keepIds ? undefined : (inFile ?? storedAuthor);
      const record = list === 'posts' ? { ...made, authorId: authorId ?? null } : made;
      const isTwice = idKey !== undefined && typeof known[list].get(idKey) === 'string';
      const isThere = !isTwice && stored && isSame(stored, record, input);
      const issues: FieldIssue[] = [];
      if (!isThere) {
        if (author !== undefined && authorId === undefined) issues.push(unknownAuthorIssue);
        if (isTwice || stored !== undefined) issues.push(idTaken);
        for (const [i, { key, taken }] of uniques.entries()) {
          const isOthers = holders[i] !== undefined && holders[i] !== made.id;
          if (isOthers || known[list].has(key)) issues.push(...taken);
        }
      }
      if (issues.length > 0) return reject(issues);
      if (idKey !== undefined) known[list].set(idKey, made.id);
      for (const { key } of uniques) known[list].set(key, made.id);
      return isThere ? { kind: 'there' } : { kind: 'good', record };
    };
  };

  return async (batch: readonly ListRow[]): Promise<(readonly [ListRow, Verdict])[]> => {
    // Lookups run in parallel. Then records are judged in order, because later ones depend on earlier ones.
    const prepared = batch.map(async (row) => [row, await prepare(row)] as const);
    return (await Promise.all(prepared)).map(([row, judge]) => [row, judge()]);
  };
}

/** Values that no other record can have, with the conditions that find them in the store. */
function uniqueValues(list: Collection, record: Entity, declared?: FieldDeclarations) {
  const own = uniqueFields(record, declared);
  const { email } = record;
  if (list === 'posts' || typeof email !== 'string') return own;
  return [{ ...byEmail(email), taken: emailTaken().details.issues }, ...own];
}

/** The values of the fields that a deployment declares unique. */
export function uniqueFields(record: Entity, declared?: FieldDeclarations) {
  return fieldsIn(declared).flatMap((one) => {
    const value = one.isUnique ? declaredValue(record, one.name) : null;
    if (value === null) return [];
    const { name, type: declaredType } = one;
    const conditions: Condition[] = [{ field: name, declaredType, op: 'eq', value }];
    return [{ name, key: `${name} ${value}`, conditions, taken: fieldTaken(name).details.issues }];
  });
}

const idRule =
  'it must be an integer, or a text of 1 to 255 characters without control characters, ' +
  `and not ".", ".." or "${selfAlias}"`;

function invalidField(name: string, message: string): Error {
  return new RostrumError('invalid-record', {
    issues: [{ pointer: `/${name}`, code: 'invalid', message }],
  });
}

function issuesOf(error: unknown): readonly FieldIssue[] {
  if (error instanceof Failure) throw error;
  const { message } = error as Error;
  return conflictOf(error) ?? [{ pointer: '', code: 'invalid', message }];
}

/** How a user is found: among the known ones, and in the store. */
interface Author {
  readonly key: string;
  readonly conditions: readonly Condition[] | undefined;
}

function byEmail(email: string): Author {
  return { key: `email ${emailKey(email)}`, conditions: filters.users.email.conditions(email) };
}

/** True if an earlier import of the same input added the stored record, and nobody changed it. */
function isSame(stored: Entity, record: Entity, input: Input): boolean {
  if (!isNothing(input.createdAt) || !isNothing(input.updatedAt)) return jsonEqual(stored, record);
  // Times that are not in the input are those of the first import.
  const { createdAt, updatedAt } = stored;
  const published = record.publishedAt === record.createdAt && { publishedAt: createdAt };
  return jsonEqual(stored, { ...record, createdAt, updatedAt, ...published });
}

/** True for what databases and spreadsheets write where there is no value. */
export function isNothing(value: unknown): boolean {
  if (typeof value !== 'string') return value === undefined || value === null;
  return /^(?:null|\\N|0000-00-00.*|-0{0,3}1-11-30.*)?$/i.test(value.trim());
}

/** An id as text. Integers are ids as well. */
function idOf(value: unknown): Id | undefined {
  if (typeof value === 'string') return value;
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

/** Removes the author from an input. Leaves a value of the wrong type, which the model rejects. */
function takeAuthor(input: Input): Author | undefined {
  const { email } = Object(input.authorId);
  const text = typeof email === 'string' ? email.trim() : idOf(input.authorId);
  if (text === undefined) return undefined;
  input.authorId = null;
  if (isNothing(text)) return undefined;
  if (email !== undefined) return byEmail(text);
  return { key: `id ${text}`, conditions: filters.users.ids.conditions([text]) };
}
