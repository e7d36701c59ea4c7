import { isRostrumError } from '../../domain/errors.ts';
import { type Instant, isInstant } from '../../domain/instant.ts';
import { isPlainObject, type JsonObject, jsonEqual } from '../../domain/json.ts';
import type { Post } from '../../domain/post.ts';
import { type Entity, RecordVersioned, type Versioned } from '../../domain/record.ts';
import { RecordModel } from '../../domain/record-model.ts';
import { postRules, userRules } from '../../domain/rules.ts';
import { isCleanText } from '../../domain/text.ts';
import type { User } from '../../domain/user.ts';
import { Failure } from '../failure.ts';
import type { RecordKind, Summary } from './summary.ts';

/** The version of the format, in the last line of a file. */
const format = 1;

/** What a line of an export holds. */
export type Content =
  | { readonly kind: 'user'; readonly stored: Versioned<User> }
  | { readonly kind: 'post'; readonly stored: Versioned<Post> }
  | { readonly kind: 'end'; readonly summary: Summary };

export function recordLine(kind: RecordKind, { json, version }: Versioned<Entity>): string {
  return `{"kind":"${kind}","version":${version},"record":${json}}\n`;
}

export function endLine(summary: Summary): string {
  return `${JSON.stringify({ kind: 'end', format, ...summary })}\n`;
}

/**
 * Reads a line and checks all that can be checked of it alone.
 *
 * @throws Failure with what is wrong, to follow the number of the line
 */
export function readLine(text: string): Content {
  const value = parse(text);
  if (!isPlainObject(value)) throw new Failure('is not a JSON object');
  switch (value.kind) {
    case 'user':
      return { kind: 'user', stored: readRecord(value, users) };
    case 'post':
      return { kind: 'post', stored: readRecord(value, posts) };
    case 'end':
      return { kind: 'end', summary: readEnd(value) };
    default:
      throw new Failure('has no "kind" that is "user", "post" or "end"');
  }
}

const users = new RecordModel<User>(userRules);
const posts = new RecordModel<Post>(postRules);

function readRecord<R extends Entity>(
  { version, record, ...rest }: Readonly<Record<string, unknown>>,
  model: RecordModel<R>,
): Versioned<R> {
  const strange = Object.keys(rest).find((name) => name !== 'kind');
  if (strange !== undefined) throw new Failure(`has a member that is not known here: "${strange}"`);
  if (!Number.isSafeInteger(version) || Number(version) < 1) {
    throw new Failure('has a "version" that is not a whole number from 1 on');
  }
  if (!isPlainObject(record)) throw new Failure('has no "record" that is a JSON object');
  const { id } = record;
  if (typeof id !== 'string' || id === '' || !isCleanText(id)) {
    throw new Failure('has a record whose "id" is not a text');
  }
  const [createdAt, updatedAt] = [instantOf(record, 'createdAt'), instantOf(record, 'updatedAt')];
  const made: R = { ...make(model, record, id, createdAt), updatedAt };
  if (!jsonEqual(made, record as JsonObject)) {
    throw new Failure(
      'has a record that is not as it would be stored: a field is missing, or a text not trimmed',
    );
  }
  return new RecordVersioned(made, Number(version));
}

function make<R extends Entity>(
  model: RecordModel<R>,
  record: Readonly<Record<string, unknown>>,
  id: string,
  now: Instant,
): R {
  try {
    return model.make(record, id, now);
  } catch (error) {
    if (!isRostrumError(error, 'invalid-record')) throw error;
    const [issue] = error.details.issues;
    const where = issue?.pointer === '' ? '' : ` at ${issue?.pointer}`;
    throw new Failure(`has a record that breaks a rule${where}: ${issue?.message}`);
  }
}

function readEnd({ users, posts, sha256, ...rest }: Readonly<Record<string, unknown>>): Summary {
  if (rest.format !== format) {
    throw new Failure(
      `is of the format ${String(rest.format)}, and this version of Rostrum knows ${format}`,
    );
  }
  if (!Number.isSafeInteger(users) || !Number.isSafeInteger(posts) || typeof sha256 !== 'string') {
    throw new Failure('is the last one, and has no counts and checksum');
  }
  return { users: Number(users), posts: Number(posts), sha256 };
}

function instantOf(record: Readonly<Record<string, unknown>>, name: string): Instant {
  const value = record[name];
  if (isInstant(value)) return value;
  throw new Failure(`has a record whose "${name}" is not like 2026-11-21T09:30:00.000Z`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure('is not JSON');
  }
}
