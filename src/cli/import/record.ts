import { itself } from '../../domain/access.ts';
import { isRostrumError } from '../../domain/errors.ts';
import type { Instant } from '../../domain/instant.ts';
import { type FieldIssue, Issues } from '../../domain/issues.ts';
import { isPlainObject } from '../../domain/json.ts';
import type { Collection, Entity, Id } from '../../domain/record.ts';
import type { RecordModel } from '../../domain/record-model.ts';
import { rules } from '../../domain/rules.ts';
import { codePoints, isCleanText } from '../../domain/text.ts';
import type { TransformContext } from '../../import.ts';

/** What an input becomes, as far as it can be told without other records. */
export interface Made {
  /** The id that it has in the file. */
  readonly given?: Id | undefined;
  /** The id that the record keeps. */
  readonly kept?: Id | undefined;
  /** The author, by id or by email address. */
  readonly author?: { readonly by: 'id' | 'email'; readonly text: string } | undefined;
  /** Whether the input says when the record was created or updated. */
  readonly hasTimes?: boolean;
  /** Without id and author. Absent when a rule refuses it. */
  readonly record?: Entity;
  readonly issues: readonly FieldIssue[];
}

export interface Making {
  /** Whether ids and times stay as they are in the file. */
  readonly keepIds: boolean;
  /** Whether posts without `publishedAt` are drafts. */
  readonly drafts?: boolean;
  readonly instant: TransformContext['instant'];
}

const longestId = 255;

/** Makes a record of an input, by the rules of the API. */
export function makeRecord(
  list: Collection,
  value: unknown,
  model: RecordModel<Entity>,
  now: Instant,
  { keepIds, drafts = false, instant }: Making,
): Made {
  const issues = new Issues();
  if (!isPlainObject(value)) {
    issues.add([], 'type', 'A record must be a JSON object.');
    return { issues: issues.list };
  }
  const input: Record<string, unknown> = { ...value };
  const readTime = (name: string): Instant | undefined => {
    if (input[name] === null || isNothing(input[name])) return undefined;
    try {
      return instant(input[name]);
    } catch (error) {
      issues.add([name], 'invalid', (error as Error).message);
      return undefined;
    }
  };
  for (const [name, { type }] of Object.entries(rules[list])) {
    if (type === 'text' || !(Object.hasOwn(input, name) || (drafts && type === 'instant')))
      continue;
    if (isNothing(input[name])) input[name] = null;
    else if (type === 'instant' && input[name] !== null) input[name] = readTime(name);
  }
  const given = idOf(input, 'id', issues);
  if (keepIds) checkId(input.id, given, issues);
  const [created, updated] = keepIds ? [readTime('createdAt'), readTime('updatedAt')] : [];
  const [createdAt, updatedAt] = [created ?? updated ?? now, updated ?? created ?? now];
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
    const record = { ...model.make(input, '', createdAt), updatedAt };
    return issues.list.length > 0
      ? { ...made, issues: issues.list }
      : { ...made, record, issues: [] };
  } catch (error) {
    if (!isRostrumError(error, 'invalid-record')) throw error;
    // What could not be read is told once.
    const told = new Set(issues.list.map(({ pointer }) => pointer));
    const others = error.details.issues.filter(({ pointer }) => !told.has(pointer));
    return { ...made, issues: [...issues.list, ...others] };
  }
}

/** True for what databases and spreadsheets write where there is no value. */
function isNothing(value: unknown): boolean {
  if (typeof value !== 'string') return value === undefined;
  return /^(?:null|\\N|0000-00-00.*)?$/i.test(value.trim());
}

/** An id of the file as a text: a number is an id as well. */
function idOf(
  input: Readonly<Record<string, unknown>>,
  name: string,
  issues: Issues,
): Id | undefined {
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
function takeAuthor(input: Record<string, unknown>, issues: Issues): Made['author'] {
  const { authorId } = input;
  const email = isPlainObject(authorId) ? authorId.email : undefined;
  const text = typeof email === 'string' ? email.trim() : idOf(input, 'authorId', issues);
  if (text === undefined) return undefined;
  input.authorId = null;
  return isNothing(text) ? undefined : { by: typeof email === 'string' ? 'email' : 'id', text };
}
