// Changes by data providers: of one record, without losing the changes of others; and of many.
import { type ApiProblem, isApiProblem, problemOf } from '../problem.ts';
import { type FailedChange, isProviderCause, PartialFailure } from './errors.ts';
import {
  type AdminClient,
  type AdminRecord,
  type AdminResource,
  type Key,
  resourceOf,
} from './resource.ts';

/** What the caller knows about a record that it changes. */
export interface Base {
  /** The record as the caller read it. Others can have changed other fields since. */
  readonly previousData?: object | undefined;
  /** The record's `updatedAt` when the caller read it. Nobody can have changed the record since. */
  readonly updatedAt?: unknown;
}

/**
 * Changes the given fields of a record and leaves the others. Undefined leaves a field and null
 * removes it. A value equal to that in `previousData` is not a change.
 *
 * @throws ApiProblem `version-mismatch` if someone else has set one of the fields to another value
 */
export function updateRecord(
  resource: AdminResource,
  id: Key,
  data: object,
  { previousData, updatedAt }: Base,
): Promise<AdminRecord> {
  const previous = previousData && fieldsOf(previousData);
  const changes = [...fieldsOf(data)].filter(
    ([name, value]) => value !== undefined && !(previous && isEqual(value, previous.get(name))),
  );
  const change = (current: AdminRecord) => {
    if (updatedAt !== undefined && updatedAt !== current.updatedAt) throw conflict();
    const fields = new Map<string, unknown>(Object.entries(current));
    for (const [name, value] of changes) {
      const stored = fields.get(name);
      const isOverwritten = previous && !isStored(stored, previous.get(name));
      if (isOverwritten && !isStored(stored, value)) throw conflict(name);
      // null removes a field, but leaves a null that is stored. Without `publishedAt`, a PUT keeps it.
      if (value === null && stored !== null && name !== 'publishedAt') fields.delete(name);
      else fields.set(name, value);
    }
    return Object.fromEntries(fields);
  };
  return inOrder(resource, String(id), async () => {
    return (await resource.update(String(id), change)).record;
  });
}

/**
 * Deletes a record.
 *
 * @param posts what to do with the posts of a user
 * @throws ApiProblem `version-mismatch` if someone else has changed the record
 */
export function deleteRecord(
  client: AdminClient,
  name: string,
  id: Key,
  { previousData = {}, updatedAt }: Base,
  posts: 'delete' | 'keep' | undefined,
): Promise<void> {
  const resource = resourceOf(client, name);
  const previous = fieldsOf(previousData);
  return inOrder(resource, String(id), async () => {
    let ifMatch: string | number = '*';
    if (updatedAt !== undefined || previous.size > 0) {
      const { record, version } = await resource.get(String(id));
      if (updatedAt !== undefined && updatedAt !== record.updatedAt) throw conflict();
      const fields = fieldsOf(record);
      for (const [field, value] of previous) {
        if (!isStored(fields.get(field), value)) throw conflict(field);
      }
      ifMatch = version;
    }
    await resource.delete(String(id), { ifMatch, ...(name === 'users' && { posts }) });
  });
}

/** The last unfinished change of each record, by resource and id. */
const unfinished = new WeakMap<AdminResource, Map<string, Promise<unknown>>>();

/**
 * Runs the changes of a record one after the other. Frameworks do not wait: a second optimistic edit
 * starts from the result of the first, which may not have reached the server.
 */
async function inOrder<T>(
  resource: AdminResource,
  id: string,
  change: () => Promise<T>,
): Promise<T> {
  const changes = unfinished.get(resource) ?? new Map<string, Promise<unknown>>();
  unfinished.set(resource, changes);
  const result = (changes.get(id) ?? Promise.resolve()).then(change, change);
  changes.set(id, result);
  try {
    return await result;
  } finally {
    if (changes.get(id) === result) changes.delete(id);
  }
}

/** Returns the fields of a record that are not set by the server. */
function fieldsOf(record: object): Map<string, unknown> {
  const { id: _, createdAt: _c, updatedAt: _u, ...fields }: Record<string, unknown> = { ...record };
  return new Map(Object.entries(fields));
}

function conflict(field?: string): ApiProblem {
  const changed = field === undefined ? 'this record' : `"${field}"`;
  return problemOf('version-mismatch', 412, `Someone else changed ${changed} since you read it.`);
}

/** Returns true if the server has this value, perhaps as it stores it: names and titles trimmed. */
function isStored(stored: unknown, sent: unknown): boolean {
  if (typeof stored !== 'string' || typeof sent !== 'string') return isEqual(stored, sent);
  const isTime = /^\d{4}-\d\d-\d\dT/.test(stored);
  return (
    stored === sent.trim() || stored === sent || (isTime && Date.parse(stored) === Date.parse(sent))
  );
}

/** Compares two values as the JSON that is sent. The order of keys does not matter. */
function isEqual(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value ?? null, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort())
      : part,
  );
}

/** The maximum number of changes at the same time. */
const maxAtOnce = 8;
/** Statuses about one record. After any other error, the remaining changes would fail as well. */
const recordStatuses = new Set([403, 404, 409, 412, 422]);

/**
 * Changes many records, several at a time. If one fails, the others are changed all the same.
 *
 * @throws PartialFailure if some failed, or the error itself if there is only one record
 */
export async function changeMany<T, Result>(
  items: readonly T[],
  done: 'created' | 'updated' | 'deleted',
  change: (item: T) => Promise<Result>,
  idOf: (item: T, index: number) => Key,
): Promise<Result[]> {
  const results: Result[] = [];
  const failed: FailedChange[] = [];
  let fatal: FailedChange['cause'] | undefined;
  for (let at = 0; at < items.length; at += maxAtOnce) {
    const batch = items.slice(at, at + maxAtOnce);
    const reason = fatal;
    const attempts = batch.map((item) => (reason ? Promise.reject(reason) : change(item)));
    for (const [index, result] of (await Promise.allSettled(attempts)).entries()) {
      if (result.status === 'fulfilled') {
        results.push(result.value);
        continue;
      }
      const cause: unknown = result.reason;
      if (!isProviderCause(cause)) throw cause;
      if (!(isApiProblem(cause) && recordStatuses.has(cause.status))) fatal = cause;
      failed.push({ id: idOf(batch[index] as T, at + index), cause });
    }
  }
  const cause = fatal ?? failed[0]?.cause;
  if (cause === undefined) return results;
  throw items.length === 1 ? cause : new PartialFailure(cause, failed, items.length, done);
}

/** Deletes many records. A record that no longer exists counts as deleted. */
export async function deleteMany(
  client: AdminClient,
  name: string,
  ids: readonly Key[],
  posts: 'delete' | 'keep' | undefined,
): Promise<void> {
  const remove = async (id: Key) => {
    try {
      await deleteRecord(client, name, id, {}, posts);
    } catch (error) {
      const isGone = isApiProblem(error, 'user-not-found') || isApiProblem(error, 'post-not-found');
      if (!isGone) throw error;
    }
  };
  await changeMany(ids, 'deleted', remove, (id) => id);
}

export async function updateMany(
  resource: AdminResource,
  ids: readonly Key[],
  data: object,
): Promise<AdminRecord[]> {
  return changeMany(
    ids,
    'updated',
    (id) => updateRecord(resource, id, data, {}),
    (id) => id,
  );
}
