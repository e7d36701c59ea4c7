import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, type Document, type IndexDescription, MongoServerError } from 'mongodb';
import {
  addDeclarations,
  type CollectionField,
  DeclarationError,
  type DeclaredFields,
  type DeclaredType,
  isSortable,
  notUnique,
  StoredRecordsCheck,
} from '../../domain/fields/declared-fields.ts';
import { declaredRules } from '../../domain/fields/rules.ts';
import type { Collection } from '../../domain/records/record.ts';
import type { Logger } from '../../ports/logger.ts';
import { validatorTitle } from './collections.ts';
import { decodeRecord, fieldPath } from './documents.ts';
import { codes, isDuplicate, MongodbStoreError } from './errors.ts';
import { buildIndexes, migrate, runLocked } from './layout.ts';

// The declared fields of a database are rules in the validators of `users` and `posts`, so the server rejects other
// values from every process.

interface StoredField extends CollectionField {
  /** The random name of this declaration until its indexes are complete. */
  readonly pending?: string | undefined;
}

/** The rules of each type; every field can also be null or absent. */
const typeRules: Readonly<Record<DeclaredType, Document>> = {
  text: { bsonType: ['string', 'null'], maxLength: declaredRules.text.maxLength },
  number: { bsonType: ['number', 'null'] },
  boolean: { bsonType: ['bool', 'null'] },
  'text[]': {
    bsonType: ['array', 'null'],
    maxItems: declaredRules['text[]'].maxItems,
    items: { bsonType: 'string', maxLength: declaredRules['text[]'].items.maxLength },
  },
};

/** The validator of a collection: the declared fields in it, and the rules of the operator. */
interface Validator {
  readonly fields: readonly StoredField[];
  readonly others: readonly Document[];
}

async function readValidator(db: Db, collection: Collection): Promise<Validator> {
  const [found] = await db.listCollections({ name: collection }, { nameOnly: false }).toArray();
  const { validator = {}, validationLevel, validationAction }: Document = found?.options ?? {};
  const rules = rulesOf(validator);
  const isOurs = ({ $jsonSchema }: Document) => $jsonSchema?.title === validatorTitle;
  const properties: Document = rules.find(isOurs)?.$jsonSchema.properties.custom.properties ?? {};
  const fields = Object.entries(properties).map(([name, { title, description: pending }]) => {
    const [type, unique] = title.split(':');
    return { collection, name, type, isUnique: unique !== undefined, pending };
  });
  const isStrict = validationLevel === 'strict' && /^error(?:AndLog)?$/.test(validationAction);
  if (fields.length > 0 && !isStrict) {
    throw new MongodbStoreError(
      `The validator of "${collection}" does not reject all wrong values. ` +
        'Set its validationLevel to "strict" and its validationAction to "error".',
    );
  }
  const others = rules.filter((rule) => !isOurs(rule) && Object.keys(rule).length > 0);
  return { fields, others };
}

/** Returns the parts of a validator, which an operator may have joined several times. */
function rulesOf(validator: Document): Document[] {
  const isJoined = Object.keys(validator).join() === '$and';
  return isJoined ? validator.$and.flatMap(rulesOf) : [validator];
}

async function writeValidator(
  db: Db,
  collection: Collection,
  { fields, others }: Validator,
): Promise<void> {
  const properties = fields.map(({ name, type, isUnique, pending }) => {
    const description = pending === undefined ? {} : { description: pending };
    return [
      name,
      { title: isUnique ? `${type}:unique` : type, ...description, ...typeRules[type] },
    ];
  });
  const custom = { properties: Object.fromEntries(properties) };
  const rule = { $jsonSchema: { title: validatorTitle, properties: { custom } } };
  const rules = fields.length > 0 ? [rule, ...others] : others;
  const validator = rules.length > 1 ? { $and: rules } : (rules[0] ?? {});
  try {
    await db.command({ collMod: collection, validator, writeConcern: { w: 'majority' } });
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.code !== codes.unauthorized) throw error;
    throw new MongodbStoreError(
      'To change declared fields, a MongoDB user needs the role dbAdmin. Grant it, or run rostrum field as another user.',
    );
  }
}

async function storedFields(db: Db): Promise<readonly StoredField[]> {
  const validators = [readValidator(db, 'users'), readValidator(db, 'posts')];
  return (await Promise.all(validators)).flatMap(({ fields }) => fields);
}

/**
 * Changes the declared fields while no other process does, and drops the indexes of those that are removed.
 *
 * @param change called with the fields of each collection
 */
async function changeFields(
  db: Db,
  change: (fields: readonly StoredField[], collection: Collection) => readonly StoredField[],
): Promise<void> {
  const changeAll = async (renewLock: () => Promise<void>) => {
    for (const collection of ['users', 'posts'] as const) {
      const { fields, others } = await readValidator(db, collection);
      const changed = change(fields, collection);
      if (JSON.stringify(fields) === JSON.stringify(changed)) continue;
      const isRemoved = ({ name }: StoredField) => !changed.some((field) => field.name === name);
      const removed = fields.filter(isRemoved);
      if (removed.length > 0) {
        // If the process ends before the fields are removed, the next opening completes them again, or reports equal
        // values that were stored meanwhile.
        const pending = fields.map((one) =>
          isRemoved(one) ? { ...one, pending: one.pending ?? randomUUID() } : one,
        );
        await renewLock();
        await writeValidator(db, collection, { fields: pending, others });
        await dropIndexes(db, collection, removed);
      }
      await renewLock();
      await writeValidator(db, collection, { fields: changed, others });
    }
  };
  while (!(await runLocked(db, changeAll))) {
    await migrate(db); // Throws if a later version has changed the layout meanwhile.
    await sleep(lockPollMs);
  }
}

const lockPollMs = 50;

async function dropIndexes(
  db: Db,
  collection: Collection,
  fields: readonly StoredField[],
): Promise<void> {
  const dropped = fields.flatMap((field) => declaredIndexes(field).map(({ name }) => name));
  const indexes = await db.collection(collection).indexes();
  for (const { name = '' } of indexes) {
    if (dropped.includes(name)) await db.collection(collection).dropIndex(name);
  }
}

/**
 * Returns the indexes of a declared field: for filters, sorts and unique values. Their suffixes start with a dot, because
 * another field's name can end in `_unique`, but has no dot.
 */
function declaredIndexes(field: CollectionField): IndexDescription[] {
  const path = fieldPath(field.collection, field.name);
  // Documents without the field have no entry.
  const isPresent = { [path]: { $exists: true } };
  // Any number of records can have null.
  const hasValue = { [path]: { $type: ['string', 'number'] } };
  // A list filtered by a unique value has at most one record, so its index needs no order.
  const filterIndex = field.isUnique
    ? {
        name: `${path}.unique`,
        key: { [path]: 1 },
        unique: true,
        partialFilterExpression: hasValue,
      }
    : {
        name: `${path}.createdAt`,
        key: { [path]: 1, createdAt: 1, _id: 1 },
        partialFilterExpression: isPresent,
      };
  return [filterIndex, ...(isSortable(field) ? [{ name: path, key: { [path]: 1, _id: 1 } }] : [])];
}

/**
 * Adds the declared fields that the database lacks, and completes those that are pending.
 *
 * @returns all declared fields of the database
 * @throws DeclarationError if the database declares a field otherwise, or if stored records break a declaration
 */
export async function declareFields(
  db: Db,
  declaredFields: DeclaredFields,
  logger: Logger,
): Promise<DeclaredFields> {
  // Other processes may add, complete and remove the same fields.
  for (;;) {
    const fields = await storedFields(db);
    const { all, missing } = addDeclarations(fields, declaredFields);
    if (missing.length > 0) {
      await changeFields(db, (current, collection) => {
        const added = addDeclarations(current, declaredFields).missing;
        const own = added.filter((field) => field.collection === collection);
        return [...current, ...own.map((field) => ({ ...field, pending: randomUUID() }))];
      });
      continue;
    }
    const pending = fields.filter((field) => field.pending !== undefined);
    const isPending = (field: StoredField) => pending.some((one) => one.pending === field.pending);
    try {
      await checkRecords(db, pending);
      for (const field of fields) await indexField(db, field, logger);
    } catch (error) {
      if (error instanceof DeclarationError) {
        await changeFields(db, (current) => current.filter((field) => !isPending(field)));
      }
      throw error;
    }
    if (pending.length === 0) return all;
    await changeFields(db, (current) =>
      current.map((field) => (isPending(field) ? { ...field, pending: undefined } : field)),
    );
  }
}

/** @throws DeclarationError if a stored record has a value of another type than declared */
async function checkRecords(db: Db, fields: readonly StoredField[]): Promise<void> {
  const check = new StoredRecordsCheck(fields);
  for (const [collection, own] of Map.groupBy(fields, (field) => field.collection)) {
    const paths = own.map(({ name }) => [fieldPath(collection, name), 1]);
    const projection = Object.fromEntries(paths);
    const documents = db.collection(collection).find<Buffer>({}, { projection, raw: true });
    for await (const document of documents) {
      check.add(collection, JSON.parse(decodeRecord(collection, document).json));
    }
  }
  check.end();
}

/**
 * @throws DeclarationError if two records have the same value of a unique field, or if MongoDB rejects an index of a new
 * field
 */
async function indexField(db: Db, field: StoredField, logger: Logger): Promise<void> {
  const { collection } = field;
  try {
    await buildIndexes(db, collection, declaredIndexes(field), logger);
  } catch (error) {
    const isNew = field.pending !== undefined;
    if (isNew && error instanceof MongodbStoreError) throw new DeclarationError(error.message);
    if (!isDuplicate(error)) throw error;
    const records = db.collection<{ _id: string }>(collection);
    const same = await records.find(error.keyValue, { projection: { _id: 1 }, limit: 9 }).toArray();
    const ids = same.map(({ _id }) => _id);
    throw notUnique(field, ids);
  }
}

export function removeField(db: Db, collection: Collection, name: string): Promise<void> {
  return changeFields(db, (fields) =>
    fields.filter((field) => field.collection !== collection || field.name !== name),
  );
}
