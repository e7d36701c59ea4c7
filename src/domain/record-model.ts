import { invalidRecord } from './errors.ts';
import { type Fields, readFields } from './fields.ts';
import { isTooDeep, readJson, readMembers } from './i-json.ts';
import { type Instant, nextInstant } from './instant.ts';
import { Issues } from './issues.ts';
import { isPlainObject, type Json, type JsonObject, jsonEqual } from './json.ts';
import { mergePatch } from './merge-patch.ts';
import { checkOwnFields, type OwnFieldsSchema } from './own-fields.ts';
import type { Entity, Id } from './record.ts';
import { type FieldRules, recordLimits, type serverMade } from './rules.ts';
import { utf8Bytes } from './text.ts';

/**
 * How records of a kind come to be and change. Pure: what is wrong is thrown as `invalid-record`,
 * with every rule that is broken.
 */
export interface RecordModel<R extends Entity> {
  /** A new record. A client's `id`, `createdAt` and `updatedAt` are ignored. */
  make(input: unknown, id: Id, now: Instant): R;

  /**
   * The whole record anew: what the client left out is gone. The very same object when nothing
   * changes. An `id` that is not the record's is a `mismatch`.
   */
  replace(current: R, input: unknown, now: Instant): R;

  /**
   * Only what the patch names, by JSON merge patch (RFC 7396). The very same object when nothing
   * changes.
   */
  patch(current: R, patch: unknown, now: Instant): R;
}

type ServerMade = Pick<Entity, (typeof serverMade)[number]>;

/** The model of records with these known fields, whose own fields may have a schema. */
export function recordModel<F extends FieldRules>(
  rules: F,
  ownFields?: OwnFieldsSchema,
): RecordModel<Entity & Fields<F>> {
  type R = Entity & Fields<F>;

  function make(input: unknown, id: Id, now: Instant): R {
    return read(input, { id, createdAt: now, updatedAt: now });
  }

  function replace(current: R, input: unknown, now: Instant): R {
    const { id, createdAt, updatedAt } = current;
    const next = read(input, { id, createdAt, updatedAt }, id);
    if (jsonEqual(next, current)) return current;
    return Object.assign(next, { updatedAt: nextInstant(updatedAt, now) });
  }

  function patch(current: R, patch: unknown, now: Instant): R {
    checkPatch(patch);
    const merged = mergePatch(current, patch) as Readonly<Record<string, unknown>>;
    // A record's id cannot be removed: null is an id that differs.
    return replace(current, patch.id === null ? { ...merged, id: null } : merged, now);
  }

  /**
   * What is valid of an input, known fields by their rules and own fields as they are, and what the
   * server made. Put together once: a record may have a hundred thousand keys.
   *
   * @param id which the input has to have, if it has one
   */
  function read(input: unknown, made: ServerMade, id?: Id): R {
    const issues = new Issues();
    if (!isPlainObject(input)) {
      issues.add([], 'type', 'A record must be a JSON object.');
      throw invalidRecord(issues.list);
    }
    if (id !== undefined && input.id !== undefined && input.id !== id) {
      issues.add(['id'], 'mismatch', 'The id is not the id of the record.');
    }
    const keys = Object.keys(input);
    const known = keys.filter((key) => Object.hasOwn(rules, key));
    const fields = readFields(rules, readMembers(input, known, issues), issues);
    const own = keys.filter((key) => !Object.hasOwn(rules, key) && !Object.hasOwn(made, key));
    const record: Record<string, Json> = { id: made.id, ...fields };
    readMembers(input, own, issues, [], record);
    if (ownFields !== undefined) checkOwnFields(ownFields, pick(record, own), issues);
    Object.assign(record, made);
    checkSize(record, { ...made, ...fallbacksOf(fields) }, issues);
    if (issues.list.length > 0) throw invalidRecord(issues.list);
    return record as R;
  }

  /** Fields that a client need not have sent. */
  function fallbacksOf(fields: Fields<F>): JsonObject {
    const known = Object.entries(fields);
    return Object.fromEntries(known.filter(([name, value]) => value === rules[name]?.fallback));
  }

  return { make, replace, patch };
}

/** What has to hold before a patch is merged: the merge follows it as deep as it goes. */
function checkPatch(patch: unknown): asserts patch is Readonly<Record<string, unknown>> {
  const issues = new Issues();
  if (!isPlainObject(patch)) issues.add([], 'type', 'A patch must be a JSON object.');
  else if (isTooDeep(patch)) readJson(patch, issues);
  if (issues.list.length > 0) throw invalidRecord(issues.list);
}

/** The size of what the client gave: of the record, less what need not have come from there. */
function checkSize(record: JsonObject, less: JsonObject, issues: Issues): void {
  // The difference is without the braces (2 bytes) and has the comma between the parts (1 byte).
  const size = jsonBytes(record) - jsonBytes(less) + 1;
  if (size <= recordLimits.bytes) return;
  const most = `${recordLimits.bytes} bytes as compact JSON`;
  issues.add([], 'too-large', `A record must have at most ${most}; this one has ${size}.`);
}

function jsonBytes(value: JsonObject): number {
  return utf8Bytes(JSON.stringify(value));
}

function pick(object: JsonObject, keys: readonly string[]): JsonObject {
  const entries = keys.filter((key) => Object.hasOwn(object, key)).map((key) => [key, object[key]]);
  return Object.fromEntries(entries) as JsonObject;
}
