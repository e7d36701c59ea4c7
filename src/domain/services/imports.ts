import type { Clock } from '../../ports/clock.ts';
import type { IdGenerator } from '../../ports/id-generator.ts';
import type { Repository } from '../../ports/repository.ts';
import type { Store } from '../../ports/store.ts';
import { isId, selfAlias } from '../access/access.ts';
import {
  emailTaken,
  fieldTaken,
  idTakenIssue,
  isRostrumError,
  RostrumError,
  unknownAuthorIssue,
} from '../errors.ts';
import {
  type DeclaredFields,
  type FieldDeclarations,
  fieldsIn,
} from '../fields/declared-fields.ts';
import { emailKey } from '../fields/email.ts';
import type { FieldIssue } from '../fields/issues.ts';
import { rules } from '../fields/rules.ts';
import type { Condition } from '../lists/list.ts';
import { declaredValue, filters } from '../lists/search.ts';
import type { Instant } from '../records/instant.ts';
import { jsonEqual } from '../records/json.ts';
import type { Collection, Entity, Id } from '../records/record.ts';
import { RecordModel } from '../records/record-model.ts';
import type { CustomFieldsSchemas } from './rostrum.ts';

// The use case of an import: it judges records of another program by the rules of the API, against the
// store and against each other, before any of them is added.

export interface ImportContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly customFields?: CustomFieldsSchemas | undefined;
  readonly declaredFields?: DeclaredFields | undefined;
  /** Reads a time in any of the forms that other programs write. @throws Error with a sentence */
  readonly instant: (value: unknown) => Instant;
  /** Whether records keep the ids and times of the file. */
  readonly keepIds?: boolean;
  /** Whether records that were deleted from the store are added again. */
  readonly restoreDeleted?: boolean;
  /** Whether posts without `publishedAt` are drafts. */
  readonly drafts?: boolean;
  /** Whether an email address can name an author that only the store has. */
  readonly matchStoredAuthors?: boolean;
}

/** A record to judge. */
export interface ImportRow {
  readonly list: Collection;
  readonly value?: unknown;
  /** Why there is no record. */
  readonly problem?: string | undefined;
  /** Something else that says that the post is not public. */
  readonly doubt?: FieldIssue | undefined;
}

export type Verdict =
  /** `storedAuthor` is the address that named an author whom only the store has. */
  | { readonly kind: 'good'; readonly record: Entity; readonly storedAuthor?: string | undefined }
  /** The store has the same record, or the record was deleted from it. */
  | { readonly kind: 'there' | 'deleted' }
  | { readonly kind: 'rejected'; readonly issues: readonly FieldIssue[] };

export const storedAuthorIssue: FieldIssue = {
  ...unknownAuthorIssue,
  message: 'Only a user in the store has this email address, and users can set any address.',
};

const unknownAddressIssue: FieldIssue = {
  ...unknownAuthorIssue,
  message: 'The author is unknown: no user has this email address.',
};

type Input = Record<string, unknown>;

/** Creates a function that judges batches of records, each also against all records judged before. */
export function importJudge(context: ImportContext) {
  const { keepIds, matchStoredAuthors, customFields = {}, declaredFields = {} } = context;
  const models = {
    users: new RecordModel<Entity>(rules.users, customFields.users, declaredFields.users),
    posts: new RecordModel<Entity>(rules.posts, customFields.posts, declaredFields.posts),
  };
  /** The new ids of records, by their unique values and their ids in the file; null if rejected. */
  const known = { users: new Map<string, Id | null>(), posts: new Map<string, Id | null>() };
  /** Authors in the store. Looking up each author only once saves 0.13 ms a post. */
  const authors = new Map<string, Promise<Id | undefined>>();

  const authorInStore = ({ key, conditions }: Author) => {
    const found = authors.get(key) ?? findRecord(context, 'users', conditions);
    authors.set(key, found);
    return found;
  };

  /** Makes a record, looks up what the store has, and returns the function that judges the record. */
  const prepare = async (row: ImportRow): Promise<() => Verdict> => {
    const { list, value, problem, doubt } = row;
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
      made = makeRecord(context, models[list], list, input);
    } catch (error) {
      const issues = issuesOf(error);
      return () => reject(issues);
    }
    if (doubt !== undefined && made.publishedAt !== null) return () => reject([doubt]);
    const uniques = uniqueValues(list, made, declaredFields[list]);
    const stored = made.id === given ? await findStored(context, list, given) : undefined;
    const storedAuthor = author && (await authorInStore(author));
    const holders = await Promise.all(
      uniques.map(({ conditions }) => findRecord(context, list, conditions)),
    );
    return () => {
      if (stored === 'deleted') return { kind: 'deleted' };
      const inFile = author && known.users.get(author.key);
      const isStored = typeof inFile !== 'string' && storedAuthor !== undefined;
      const isDoubtful = isStored && author?.email !== undefined && !matchStoredAuthors;
      // A rejected user whose id would be kept can be in the store already.
      const isRejected = inFile === null && !keepIds;
      const authorId = isDoubtful || isRejected ? undefined : (inFile ?? storedAuthor);
      const record = authorId === undefined ? made : { ...made, authorId };
      const isTwice = idKey !== undefined && typeof known[list].get(idKey) === 'string';
      const isThere = !isTwice && stored && isSame(stored, record, input);
      const issues: FieldIssue[] = [];
      if (!isThere) {
        if (author !== undefined && authorId === undefined) {
          const byAddress = isDoubtful ? storedAuthorIssue : unknownAddressIssue;
          issues.push(author.email === undefined ? unknownAuthorIssue : byAddress);
        }
        if (isTwice || stored !== undefined) issues.push(idTakenIssue);
        for (const [i, { key, taken }] of uniques.entries()) {
          const isOthers = holders[i] !== undefined && holders[i] !== made.id;
          if (isOthers || known[list].has(key)) issues.push(...taken);
        }
      }
      if (issues.length > 0) return reject(issues);
      if (idKey !== undefined) known[list].set(idKey, made.id);
      for (const { key } of uniques) known[list].set(key, made.id);
      if (isThere) return { kind: 'there' };
      return { kind: 'good', record, storedAuthor: isStored ? author?.email : undefined };
    };
  };

  return async <R extends ImportRow>(batch: readonly R[]): Promise<(readonly [R, Verdict])[]> => {
    // Lookups run in parallel. Then records are judged in order, because later ones depend on earlier ones.
    const judges = await Promise.all(batch.map(prepare));
    return judges.map((judge, i) => [batch[i] as R, judge()]);
  };
}

/** Makes a record, still without its author. @throws Error with a sentence, or `invalid-record` */
function makeRecord(
  { keepIds, drafts, instant, clock, ids }: ImportContext,
  model: RecordModel<Entity>,
  list: Collection,
  input: Input,
): Entity {
  const readTime = (name: string) => {
    try {
      return isNothing(input[name]) ? null : instant(input[name]);
    } catch (error) {
      throw invalidField(name, (error as Error).message);
    }
  };
  if (drafts && list === 'posts') input.publishedAt ??= null;
  for (const [name, rule] of Object.entries(rules[list])) {
    if (!Object.hasOwn(input, name)) continue;
    if (rule.type === 'text') {
      if (!rule.controls) input[name] = onOneLine(input[name]);
    } else if (rule.type === 'instant') input[name] = readTime(name);
    else if (isNothing(input[name])) input[name] = null;
  }
  const given = (keepIds ? input.id : undefined) ?? undefined;
  if (given !== undefined && !isId(idOf(given) ?? '')) throw invalidField('id', idRule);
  const [created, updated] = keepIds ? [readTime('createdAt'), readTime('updatedAt')] : [];
  const createdAt = created ?? updated ?? clock.now();
  const made = model.create(input, idOf(given) ?? ids.next(), createdAt);
  return updated ? { ...made, updatedAt: updated } : made;
}

async function findRecord(
  { store }: ImportContext,
  list: Collection,
  conditions: readonly Condition[] | undefined,
): Promise<Id | undefined> {
  if (conditions === undefined) return undefined;
  const order = { field: 'createdAt', direction: 'desc' } as const;
  const found = await store[list].list({ conditions, order, limit: 1, bytes: 1 });
  return found.items[0]?.record.id;
}

async function findStored(
  { store, restoreDeleted }: ImportContext,
  list: Collection,
  id: Id,
): Promise<Entity | 'deleted' | undefined> {
  const records: Pick<Repository<Entity>, 'get' | 'lastVersion'> = store[list];
  if ((await records.lastVersion(id)) === undefined) return undefined;
  const found = await records.get(id);
  if (found !== undefined) return found.record;
  return restoreDeleted ? undefined : 'deleted';
}

/** Values that no other record can have, with the conditions that find them in the store. */
function uniqueValues(list: Collection, record: Entity, declared?: FieldDeclarations) {
  const own = fieldsIn(declared).flatMap(({ name, type: declaredType, isUnique }) => {
    const value = isUnique ? declaredValue(record, name) : null;
    if (value === null) return [];
    const conditions: Condition[] = [{ field: name, declaredType, op: 'eq', value }];
    return [{ key: `${name} ${value}`, conditions, taken: fieldTaken(name).details.issues }];
  });
  const { email } = record;
  if (list === 'posts' || typeof email !== 'string') return own;
  return [{ ...byEmail(email), taken: emailTaken().details.issues }, ...own];
}

const idRule =
  'An id must be an integer, or a text of 1 to 255 characters without control characters, ' +
  `and not ".", ".." or "${selfAlias}".`;

function invalidField(name: string, message: string): Error {
  return new RostrumError('invalid-record', {
    issues: [{ pointer: `/${name}`, code: 'invalid', message }],
  });
}

function issuesOf(error: unknown): readonly FieldIssue[] {
  if (isRostrumError(error, 'invalid-record')) return error.details.issues;
  return [{ pointer: '', code: 'invalid', message: (error as Error).message }];
}

/** How a user is found: among the known ones, and in the store. */
interface Author {
  readonly key: string;
  readonly conditions: readonly Condition[] | undefined;
  readonly email?: string;
}

function byEmail(email: string): Author {
  const conditions = filters.users.email.conditions(email);
  return { key: `email ${emailKey(email)}`, conditions, email };
}

/** True if an earlier import of the same input added the stored record, and nobody changed it. */
function isSame(stored: Entity, record: Entity, input: Input): boolean {
  if (!isNothing(input.createdAt) || !isNothing(input.updatedAt)) return jsonEqual(stored, record);
  // Times that are not in the input are those of the first import.
  const { createdAt, updatedAt } = stored;
  const published = record.publishedAt === record.createdAt && { publishedAt: createdAt };
  return jsonEqual(stored, { ...record, createdAt, updatedAt, ...published });
}

/** True for what databases, spreadsheets and PHP write where there is no value. */
export function isNothing(value: unknown): boolean {
  if (typeof value !== 'string') return value === undefined || value === null;
  return /^(?:null|\\N|0000-00-00.*|-0{0,3}1-11-30.*)?$/i.test(value.trim());
}

/** Replaces white space that contains a line break or a tab by a space. */
function onOneLine(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return value.replace(/(?<![\s\u0085])[\s\u0085]*[\t-\r\u0085\u2028\u2029][\s\u0085]*/g, ' ');
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
