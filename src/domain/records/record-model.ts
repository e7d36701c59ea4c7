import { RostrumError } from '../errors.ts';
import { applySchema, type CustomFieldsSchema } from '../fields/custom-fields.ts';
import {
  checkDeclaredValues,
  type DeclaredField,
  type FieldDeclarations,
  fieldsIn,
} from '../fields/declared-fields.ts';
import { foldedName, readFields } from '../fields/fields.ts';
import type { Issues } from '../fields/issues.ts';
import { type FieldRule, type FieldRules, recordLimits, serverMade } from '../fields/rules.ts';
import { isTooDeep, JsonReader } from './i-json.ts';
import { type Instant, nextInstant } from './instant.ts';
import { isPlainObject, type Json, type JsonObject, jsonEqual } from './json.ts';
import { mergePatch } from './merge-patch.ts';
import type { Id, ServerMadeFields } from './record.ts';
import { utf8Bytes } from './text.ts';

/**
 * Creates and changes records with these known fields. Pure. Throws `invalid-record` with every broken rule.
 */
export class RecordModel<R extends ServerMadeFields> {
  readonly #rules: FieldRules;
  readonly #schema: CustomFieldsSchema | undefined;
  readonly #instants: readonly string[];
  readonly #declared: readonly DeclaredField[];
  /** The fields whose misspelling changes who sees a record, by their folded names. */
  readonly #decisive: ReadonlyMap<string, string>;

  /**
   * @param schema of the custom fields; without one they can be anything
   * @param declared the declared fields
   */
  constructor(rules: FieldRules, schema?: CustomFieldsSchema, declared?: FieldDeclarations) {
    this.#rules = rules;
    this.#schema = schema;
    this.#declared = fieldsIn(declared);
    const ofType = (...types: FieldRule['type'][]) =>
      Object.keys(rules).filter((name) => types.some((type) => type === rules[name]?.type));
    this.#instants = ofType('instant');
    const decisive = ofType('instant', 'reference');
    this.#decisive = new Map(decisive.map((name) => [foldedName(name), name]));
  }

  /**
   * Creates a record. Ignores `createdAt` and `updatedAt` in the input.
   *
   * @param expectedId the only `id` that the input may have: another one is a `mismatch`. If absent, the
   * input's `id` is ignored.
   */
  create(input: unknown, id: Id, now: Instant, expectedId?: Id): R {
    return this.#read(input, { id, createdAt: now, updatedAt: now }, undefined, expectedId);
  }

  /**
   * Replaces the whole record: fields that the input leaves out are removed. Returns the same object if
   * nothing changes. An `id` that is not the record's is a `mismatch`.
   */
  replace(current: R, input: unknown, now: Instant): R {
    const { id, createdAt, updatedAt } = current;
    const next = this.#read(input, { id, createdAt, updatedAt }, current);
    if (jsonEqual(next as unknown as Json, current as unknown as Json)) return current;
    return Object.assign(next, { updatedAt: nextInstant(updatedAt, now) });
  }

  /** Applies a JSON merge patch (RFC 7396). Returns the same object if nothing changes. */
  patch(current: R, patch: unknown, now: Instant): R {
    checkPatch(patch);
    const merged = mergePatch(current, patch) as Readonly<Record<string, unknown>>;
    // For these fields null is a value, not an absence. A record's id cannot be null.
    const nulls = ['id', ...this.#instants].filter((key) => patch[key] === null);
    const input = { ...merged, ...Object.fromEntries(nulls.map((key) => [key, null])) };
    return this.replace(current, nulls.length === 0 ? merged : input, now);
  }

  /**
   * Validates an input: known fields by their rules, custom fields by the schema. Returns it as a record, with
   * the fields that the server makes.
   *
   * @param current the record that the input replaces
   * @param expectedId the only id that the input may have
   */
  #read(input: unknown, serverFields: ServerMadeFields, current?: R, expectedId = current?.id): R {
    const reader = new JsonReader();
    const { issues } = reader;
    if (!isPlainObject(input)) {
      issues.add([], 'type', 'A record must be a JSON object.');
      throw invalidRecord(issues);
    }
    if (expectedId !== undefined && input.id !== undefined && input.id !== expectedId) {
      issues.add(['id'], 'mismatch', 'The id is not the id of the record.');
    }
    // Nothing of these is stored, but the fingerprint of a creation covers the whole input, at any depth.
    for (const name of serverMade) {
      if (isTooDeep(input[name], 2)) reader.readMember(input, name, {});
    }
    const known: Record<string, Json> = {};
    const defaults: Record<string, Json> = {};
    for (const [key, { type }] of Object.entries(this.#rules)) {
      const value = Object.hasOwn(input, key) ? input[key] : undefined;
      if (value !== undefined) reader.readMember(input, key, known);
      else if (type === 'instant')
        defaults[key] = current?.[key as keyof R] ?? (current ? null : serverFields.createdAt);
    }
    const fields = Object.assign(readFields(this.#rules, known, issues), defaults);
    // Read custom fields straight into the record: there can be 50,000 of them.
    const record: Record<string, Json> = { id: serverFields.id, ...fields };
    const custom = this.#schema === undefined ? record : {};
    for (const key of Object.keys(input)) {
      if (this.#isKnown(key)) continue;
      reader.readMember(input, key, custom);
      const [meant, value] = [this.#meantBy(key), custom[key]];
      if (meant === undefined || value === undefined) continue;
      const stored = (current as JsonObject | undefined)?.[key];
      if (stored !== undefined && jsonEqual(stored, value)) continue;
      issues.add([key], 'key', `Unknown field "${key}". Did you mean ${meant}?`);
    }
    if (this.#schema !== undefined) {
      Object.assign(record, this.#validateCustom(this.#schema, custom, current, issues));
    }
    checkDeclaredValues(this.#declared, record, issues);
    record.createdAt = serverFields.createdAt;
    record.updatedAt = serverFields.updatedAt;
    // The reader has not seen what a schema adds.
    if (this.#schema !== undefined || reader.byteBound > recordLimits.bytes) {
      checkSize(record, { ...serverFields, ...this.#uncountedFields(fields) }, issues);
    }
    if (issues.list.length > 0) throw invalidRecord(issues);
    return record as unknown as R;
  }

  /** Applies the schema, unless the custom fields stay as they are. */
  #validateCustom(
    schema: CustomFieldsSchema,
    custom: JsonObject,
    current: R | undefined,
    issues: Issues,
  ): JsonObject {
    if (current !== undefined) {
      const before = Object.entries(current).filter(([key]) => !this.#isKnown(key));
      if (jsonEqual(Object.fromEntries(before) as JsonObject, custom)) return custom;
    }
    return applySchema(schema, custom, (key) => this.#isKnown(key), issues);
  }

  /**
   * Returns the known field that a custom field was probably meant for: a post with `published_at: null` would be
   * published at once. Undefined for a name that is declared or in the schema; a schema that cannot list its names
   * judges all of them itself.
   */
  #meantBy(key: string): string | undefined {
    const meant = this.#decisive.get(foldedName(key));
    if (meant === undefined || this.#declared.some(({ name }) => name === key)) return undefined;
    const isInSchema = this.#schema !== undefined && (this.#schema.names?.has(key) ?? true);
    return isInSchema ? undefined : meant;
  }

  #isKnown(key: string): boolean {
    return Object.hasOwn(this.#rules, key) || (serverMade as readonly string[]).includes(key);
  }

  /** Fields that the size limit ignores: the caller left them out, or their length is fixed. */
  #uncountedFields(fields: JsonObject): JsonObject {
    const known = Object.entries(fields);
    return Object.fromEntries(
      known.filter(
        ([name, value]) => value === this.#rules[name]?.fallback || this.#instants.includes(name),
      ),
    );
  }
}

function invalidRecord({ list }: Issues): RostrumError<'invalid-record'> {
  return new RostrumError('invalid-record', { issues: list });
}

/** Checks a patch before it is merged: the merge recurses as deep as the patch goes. */
function checkPatch(patch: unknown): asserts patch is Readonly<Record<string, unknown>> {
  const reader = new JsonReader();
  const { issues } = reader;
  if (!isPlainObject(patch)) issues.add([], 'type', 'A patch must be a JSON object.');
  else if (isTooDeep(patch)) reader.read(patch);
  if (issues.list.length > 0) throw invalidRecord(issues);
}

/** Limits the size of the caller's input: the record without its uncounted fields. */
function checkSize(record: JsonObject, uncounted: object, issues: Issues): void {
  // The difference lacks a pair of braces (2 bytes) and has the comma between the parts (1 byte).
  const bytes = (part: object) => utf8Bytes(JSON.stringify(part));
  const size = bytes(record) - bytes(uncounted) + 1;
  if (size <= recordLimits.bytes) return;
  const most = `${recordLimits.bytes} bytes as compact JSON`;
  issues.add([], 'too-large', `A record must have at most ${most}; this one has ${size}.`);
}
