import type { AnyBulkWriteOperation, Collection, Document } from 'mongodb';
import { type Instant, instantFromMs, parseRfc3339 } from '../../../domain/instant.ts';
import type { Id } from '../../../domain/record.ts';
import { textKey } from '../../../domain/text.ts';
import { limits } from '../connection/limits.ts';
import { MongodbRefusal } from '../schema/refusal.ts';
import type { Lease, Resource } from './lease.ts';

/** As little of a document of version 1 as its migration needs. */
interface Outline {
  readonly _id: Id;
  readonly record?: Document;
  readonly claims?: readonly { readonly key: string; readonly first?: Document }[];
  readonly size: number;
}

const outlines = {
  users: { 'record.name': 1 },
  posts: {
    ...{ 'record.title': 1, 'record.createdAt': 1, 'record.publishedAt': 1, 'claims.key': 1 },
    ...{ 'claims.first.createdAt': 1, 'claims.first.publishedAt': 1 },
  },
} as const satisfies Record<Resource, Document>;

/**
 * Since when a post of version 1 is public: its creation, or what its custom field says. Undefined
 * where that says something else.
 */
function publishedAtOf({ createdAt, publishedAt }: Document): Instant | null | undefined {
  if (publishedAt === undefined) return createdAt;
  if (publishedAt === null) return null;
  const instant = typeof publishedAt === 'string' ? parseRfc3339(publishedAt) : undefined;
  return instant && instantFromMs(instant.ms);
}

/** The outlines of the documents behind an id, in parts that one command may change. */
export async function* partsOf(
  collection: Collection<{ _id: Id }>,
  resource: Resource,
  after?: Id,
): AsyncGenerator<readonly Outline[]> {
  const projection = { ...outlines[resource], size: { $bsonSize: '$$ROOT' } };
  // No filter but the id: the server must not be silent for long while it looks for the next.
  const found = collection.find<Outline>(after === undefined ? {} : { _id: { $gt: after } }, {
    ...{ projection, hint: '_id_', batchSize: limits.migrationRecords / 2 },
    // Another tool may have written text that is not UTF-8.
    enableUtf8Validation: false,
  });
  let [part, bytes]: [Outline[], number] = [[], 0];
  for await (const outline of found.sort({ _id: 1 })) {
    if (part.length === limits.migrationRecords || bytes + outline.size > limits.cascadeBytes) {
      if (part.length > 0) yield part;
      [part, bytes] = [[], 0];
    }
    part.push(outline);
    bytes += outline.size;
  }
  if (part.length > 0) yield part;
}

/**
 * Makes documents of version 1 those of this version; their records' versions stay. A document that was
 * migrated, changed or deleted since its outline was read stays as it is.
 */
export async function migratePart(
  collection: Collection<{ _id: Id }>,
  resource: Resource,
  part: readonly Outline[],
): Promise<void> {
  // A majority has these when it has the end of the migration.
  const options = { writeConcern: { w: 1, journal: false } } as const;
  const receipts = resource === 'posts' ? part.flatMap((outline) => firstsOf(outline)) : [];
  if (receipts.length > 0) await collection.bulkWrite(receipts, options);
  const records = part.filter(({ record }) => record !== undefined);
  const ids = records.map(({ _id }) => _id);
  const fields = resource === 'users' ? userFields(records) : postFields(records);
  const [key] = Object.keys(fields);
  const isLeft = { 'record.id': { $exists: true }, [String(key)]: { $exists: false } };
  // One command that has the values of all costs the server half of one command for each.
  const place = { $indexOfArray: [{ $literal: ids }, '$_id'] };
  const values = Object.entries(fields).map(([name, all]) => {
    return [name, { $arrayElemAt: [{ $literal: all }, '$place'] }];
  });
  await collection.updateMany(
    { _id: { $in: ids }, ...isLeft },
    [{ $set: { place } }, { $set: { ...Object.fromEntries(values), place: '$$REMOVE' } }],
    options,
  );
}

/** The values of each field that records get, in the order of the records. */
type Fields = Readonly<Record<string, readonly (string | null)[]>>;

function userFields(users: readonly Outline[]): Fields {
  return { nameKey: users.map(({ record }) => textKey(String(record?.name))) };
}

function postFields(posts: readonly Outline[]): Fields {
  const instants = posts.map(({ _id, record = {} }) => {
    const publishedAt = publishedAtOf(record);
    if (publishedAt === undefined) throw refusalOf([_id]);
    return publishedAt;
  });
  return {
    titleKey: posts.map(({ record }) => textKey(String(record?.title))),
    publishedKey: instants.map((instant) => instant ?? ''),
    'record.publishedAt': instants,
  };
}

/** What makes the records that a post's receipts hold those of this version. */
function firstsOf({ _id, claims = [] }: Outline): AnyBulkWriteOperation<{ _id: Id }>[] {
  return claims.flatMap(({ key, first }) => {
    if (first === undefined) return [];
    const publishedAt = publishedAtOf(first);
    const path = 'claims.$[claim].first.publishedAt';
    // What else the field said ends with the receipt, within a day.
    const set = { [path]: publishedAt === undefined ? first.createdAt : publishedAt };
    const arrayFilters = [{ 'claim.key': key, 'claim.first': { $exists: true } }];
    return [{ updateOne: { filter: { _id }, update: { $set: set }, arrayFilters } }];
  });
}

/**
 * Looks for posts whose custom field `publishedAt` cannot become the time of publication.
 *
 * @throws MongodbRefusal that names the first of them
 */
export async function checkPosts(posts: Collection<{ _id: Id }>, lease: Lease): Promise<void> {
  const projection = { 'record.createdAt': 1, 'record.publishedAt': 1 };
  const found = posts.find<Outline>({}, { projection, hint: '_id_', batchSize: 10_000 });
  const ids: Id[] = [];
  for await (const { _id, record } of found) {
    if (record !== undefined && publishedAtOf(record) === undefined) ids.push(_id);
    await lease.keep();
  }
  if (ids.length > 0) throw refusalOf(ids);
}

function refusalOf(ids: readonly Id[]): MongodbRefusal {
  const first = ids.slice(0, 5).map((id) => JSON.stringify(id));
  const all = [...first, ...(ids.length > 5 ? [`${ids.length - 5} more`] : [])].join(', ');
  return new MongodbRefusal(
    `The database has posts whose custom field "publishedAt" is neither a date-time of RFC 3339 nor ` +
      `null (${all}): change them with the version of Rostrum that wrote them.`,
  );
}
