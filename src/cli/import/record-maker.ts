import { isRostrumError } from '../../domain/errors.ts';
import { type Instant, instantFromMs, parseRfc3339 } from '../../domain/instant.ts';
import { type FieldIssue, Issues } from '../../domain/issues.ts';
import { isPlainObject } from '../../domain/json.ts';
import type { Entity, Id } from '../../domain/record.ts';
import type { RecordModel } from '../../domain/record-model.ts';
import { codePoints, isCleanText } from '../../domain/text.ts';
import type { Clock } from '../../ports/clock.ts';
import { type Names, renamed } from './field-names.ts';
import type { Given } from './given.ts';

/** What a record of a file becomes, as far as it can be told by itself. */
export interface Made {
  readonly place: string;
  /** The id that it has in the file, as a text. */
  readonly given: Id | undefined;
  /** The author whom it names, when that is no user of the file. */
  readonly otherAuthor?: Id | undefined;
  /** Absent when a rule refuses the record. */
  readonly record?: Entity;
  /** Why it is refused: all that is wrong. */
  readonly issues: readonly FieldIssue[];
}

export interface Making {
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
  const given = idOf(input, 'id', issues);
  if (making.keepIds) checkId(input.id, given, issues);
  const { createdAt, updatedAt } = timesOf(input, making, issues);
  const otherAuthor = making.authorOf && setAuthor(input, making.authorOf, issues);
  const id = making.keepIds && given !== undefined ? given : making.newId(given);
  try {
    const record = making.model.make(input, id, createdAt);
    if (issues.list.length > 0) return { place, given, otherAuthor, issues: issues.list };
    return { place, given, otherAuthor, record: { ...record, updatedAt }, issues: [] };
  } catch (error) {
    return { place, given, otherAuthor, issues: [...issues.list, ...issuesOf(error)] };
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
  } else if (['', '.', '..'].includes(given) || !isCleanText(given)) {
    issues.add(['id'], 'invalid', 'An id must be a text that can stand in a path.');
  }
}

/** The times that are kept; one that is missing is the other, or now. */
function timesOf(
  input: Readonly<Record<string, unknown>>,
  { keepIds, clock }: Making,
  issues: Issues,
): { readonly createdAt: Instant; readonly updatedAt: Instant } {
  const [created, updated] = (['createdAt', 'updatedAt'] as const).map((name) => {
    const value = keepIds ? (input[name] ?? undefined) : undefined;
    if (value === undefined) return undefined;
    const time = typeof value === 'string' ? parseRfc3339(value) : undefined;
    if (time !== undefined) return instantFromMs(time.ms);
    issues.add([name], 'invalid', 'A time must be like 2026-11-21T09:30:00Z (RFC 3339).');
    return undefined;
  });
  const now = clock.now();
  const [createdAt, updatedAt] = [created ?? updated ?? now, updated ?? created ?? now];
  if (updatedAt < createdAt) {
    issues.add(['updatedAt'], 'invalid', 'A record must not be updated before it is created.');
  }
  return { createdAt, updatedAt };
}

/**
 * An author of the same file gets the id that this user gets; any other is one of the store.
 *
 * @returns that other one
 */
function setAuthor(
  input: Record<string, unknown>,
  authorOf: (given: Id) => Id | null | undefined,
  issues: Issues,
): Id | undefined {
  const given = idOf(input, 'authorId', issues);
  if (given === undefined) {
    if (issues.has('authorId')) input.authorId = null;
    return undefined;
  }
  const author = authorOf(given);
  if (author === null) issues.add(['authorId'], 'unknown', 'The user with this id is refused.');
  input.authorId = author === undefined ? given : author;
  return author === undefined ? given : undefined;
}
