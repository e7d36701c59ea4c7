import { itself } from '../../domain/access.ts';
import { isRostrumError } from '../../domain/errors.ts';
import type { Instant } from '../../domain/instant.ts';
import { type FieldIssue, Issues } from '../../domain/issues.ts';
import { isPlainObject } from '../../domain/json.ts';
import type { Entity, Id } from '../../domain/record.ts';
import type { RecordModel } from '../../domain/record-model.ts';
import { codePoints, isCleanText } from '../../domain/text.ts';
import type { Clock } from '../../ports/clock.ts';
import { type Names, renamed } from './field-names.ts';
import { readTexts, type Texts } from './field-types.ts';
import type { Given } from './given.ts';
import { wrongTime } from './times.ts';

/** What a record of a file becomes, as far as it can be told by itself. */
export interface Made {
  readonly place: string;
  /** The id that it has in the file, as a text. */
  readonly given: Id | undefined;
  /** The author whom it names, as the file has the id. */
  readonly author?: Id | undefined;
  /** The same, when that is no user of the file. */
  readonly otherAuthor?: Id | undefined;
  /** Whether the file says when it was made or changed. */
  readonly hasTimes?: boolean;
  /** Absent when a rule refuses the record. */
  readonly record?: Entity;
  /** Why it is refused: all that is wrong. */
  readonly issues: readonly FieldIssue[];
}

export interface Making extends Texts {
  readonly model: RecordModel<Entity>;
  readonly names: Names;
  /** Whether ids and times stay as they are in the file. */
  readonly keepIds: boolean;
  readonly clock: Clock;
  /** The id of a record that does not keep its own. */
  newId(given: Id | undefined): Id;
  /** What the id of an author becomes: null when that user is refused, undefined when unknown. */
  readonly authorOf?: ((given: Id) => Id | null | undefined) | undefined;
}

const longestId = 255;

/** Makes a record of what a file holds, by the rules that the API has. */
export function makeRecord({ place, value, problem }: Given, making: Making): Made {
  const issues = new Issues();
  if (!isPlainObject(value)) {
    if (problem === undefined) issues.add([], 'type', 'A record must be a JSON object.');
    else issues.add([], 'invalid', problem);
    return { place, given: undefined, issues: issues.list };
  }
  const input = renamed(value, making.names, issues);
  readTexts(input, making, issues);
  const given = idOf(input, 'id', issues);
  if (making.keepIds) checkId(input.id, given, issues);
  const { createdAt, updatedAt, hasTimes } = timesOf(input, making, issues);
  const about = { place, given, hasTimes, ...setAuthor(input, making.authorOf, issues) };
  const id = making.keepIds && given !== undefined ? given : making.newId(given);
  try {
    const record = making.model.make(input, id, createdAt);
    if (issues.list.length > 0) return { ...about, issues: issues.list };
    return { ...about, record: { ...record, updatedAt }, issues: [] };
  } catch (error) {
    // What could not be read is told once.
    const told = new Set(issues.list.map(({ pointer }) => pointer));
    const others = issuesOf(error).filter(({ pointer }) => !told.has(pointer));
    return { ...about, issues: [...issues.list, ...others] };
  }
}

/** What a refusal is about. @throws the error itself when it is none */
export function issuesOf(error: unknown): readonly FieldIssue[] {
  if (isRostrumError(error, 'invalid-record') || isRostrumError(error, 'email-taken')) {
    return error.details.issues;
  }
  if (isRostrumError(error, 'id-taken')) return [idTaken];
  throw error;
}

export const idTaken: FieldIssue = {
  pointer: '/id',
  code: 'taken',
  message: 'Another record has this id, or had it before it was deleted.',
};

/** An id of the file as a text: numbers are ids, too. */
function idOf(
  input: Readonly<Record<string, unknown>>,
  name: string,
  issues: Issues,
): Id | undefined {
  const value = Object.hasOwn(input, name) ? input[name] : undefined;
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') return undefined;
  if (Number.isSafeInteger(value)) return String(value);
  issues.add(
    [name],
    'number-range',
    'A number that is an id must be an integer within ±(2^53 − 1).',
  );
  return undefined;
}

function checkId(value: unknown, given: Id | undefined, issues: Issues): void {
  if (value === undefined || value === null) return;
  if (given === undefined) {
    if (!issues.has('id')) issues.add(['id'], 'type', 'An id must be a text or an integer.');
  } else if (codePoints(given) > longestId) {
    issues.add(['id'], 'too-long', `An id must have at most ${longestId} characters.`);
  } else if (given === itself) {
    issues.add(
      ['id'],
      'invalid',
      `"${itself}" cannot be an id: in a path it stands for the caller.`,
    );
  } else if (['', '.', '..'].includes(given) || !isCleanText(given)) {
    issues.add(['id'], 'invalid', 'An id must be a text that can stand in a path.');
  }
}

/** The times that are kept; one that is missing is the other, or now. */
function timesOf(
  input: Readonly<Record<string, unknown>>,
  { keepIds, clock, readTime, timeZone }: Making,
  issues: Issues,
): { readonly createdAt: Instant; readonly updatedAt: Instant; readonly hasTimes: boolean } {
  const [created, updated] = (['createdAt', 'updatedAt'] as const).map((name) => {
    const value = keepIds ? (input[name] ?? undefined) : undefined;
    if (value === undefined) return undefined;
    const time = typeof value === 'string' ? readTime(value) : undefined;
    // What --type could not read is told already.
    if (time === undefined && !issues.has(name)) {
      issues.add([name], 'invalid', wrongTime(timeZone));
    }
    return time;
  });
  const now = clock.now();
  const [createdAt, updatedAt] = [created ?? updated ?? now, updated ?? created ?? now];
  if (updatedAt < createdAt) {
    issues.add(['updatedAt'], 'invalid', 'A record must not be updated before it is created.');
  }
  return { createdAt, updatedAt, hasTimes: (created ?? updated) !== undefined };
}

/** An author of the same file gets the id that this user gets; any other is one of the store. */
function setAuthor(
  input: Record<string, unknown>,
  authorOf: Making['authorOf'],
  issues: Issues,
): Pick<Made, 'author' | 'otherAuthor'> {
  if (authorOf === undefined) return {};
  const author = idOf(input, 'authorId', issues);
  if (author === undefined) {
    if (issues.has('authorId')) input.authorId = null;
    return {};
  }
  const known = authorOf(author);
  if (known === null) issues.add(['authorId'], 'unknown', 'The user with this id is refused.');
  input.authorId = known === undefined ? author : known;
  return { author, otherAuthor: known === undefined ? author : undefined };
}
