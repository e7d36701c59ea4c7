import { invalidRecord } from './errors.ts';
import { type Fields, readFields } from './fields.ts';
import { isTooDeep, readJson } from './i-json.ts';
import { type Instant, nextInstant } from './instant.ts';
import { Issues } from './issues.ts';
import { isPlainObject, type JsonObject, jsonEqual } from './json.ts';
import { mergePatch } from './merge-patch.ts';
import { checkOwnFields, type OwnFieldsSchema } from './own-fields.ts';
import type { Entity, Id } from './record.ts';
import { type FieldRules, recordLimits, serverMade } from './rules.ts';
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

/** The model of records with these known fields, whose own fields may have a schema. */
export function recordModel<F extends FieldRules>(
  rules: F,
  ownFields?: OwnFieldsSchema,
): RecordModel<Entity & Fields<F>> {
  type R = Entity & Fields<F>;

  function make(input: unknown, id: Id, now: Instant): R {
    return { id, ...readGiven(input), createdAt: now, updatedAt: now };
  }

  function replace(current: R, input: unknown, now: Instant): R {
    const { id, createdAt, updatedAt } = current;
    const next: R = { id, ...readGiven(input, id), createdAt, updatedAt };
    if (jsonEqual(next, current)) return current;
    return { ...next, updatedAt: nextInstant(updatedAt, now) };
  }

  function patch(current: R, patch: unknown, now: Instant): R {
    checkPatch(patch);
    const merged = mergePatch(current, patch) as Readonly<Record<string, unknown>>;
    // A record's id cannot be removed: null is an id that differs.
    return replace(current, patch.id === null ? { ...merged, id: null } : merged, now);
  }

  /** What is valid of an input: known fields by their rules, own fields as they are. */
  function readGiven(input: unknown, id?: Id): Fields<F> & JsonObject {
    const issues = new Issues();
    if (!isPlainObject(input)) {
      issues.add([], 'type', 'A record must be a JSON object.');
      throw invalidRecord(issues.list);
    }
    if (id !== undefined && input.id !== undefined && input.id !== id) {
      issues.add(['id'], 'mismatch', 'The id is not the id of the record.');
    }
    const given = readJson(without(input, serverMade), issues) as JsonObject;
    const fields = readFields(rules, given, issues);
    const own = without(given, Object.keys(rules));
    if (ownFields !== undefined) checkOwnFields(ownFields, own, issues);
    checkSize({ ...own, ...withoutFallbacks(fields) }, issues);
    if (issues.list.length > 0) throw invalidRecord(issues.list);
    return { ...fields, ...own };
  }

  /** A client need not have sent what is a field's fallback. */
  function withoutFallbacks(fields: Fields<F>): JsonObject {
    const sent = Object.entries(fields).filter(([name, value]) => value !== rules[name]?.fallback);
    return Object.fromEntries(sent);
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

function checkSize(given: JsonObject, issues: Issues): void {
  const size = utf8Bytes(JSON.stringify(given));
  if (size <= recordLimits.bytes) return;
  const most = `${recordLimits.bytes} bytes as compact JSON`;
  issues.add([], 'too-large', `A record must have at most ${most}; this one has ${size}.`);
}

/** A copy without some keys. By entries, so that `__proto__` stays the plain key it is in JSON. */
function without<T>(
  object: Readonly<Record<string, T>>,
  keys: readonly string[],
): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}
