import type { Guard, Repository } from '../../ports/repository.ts';
import type { Access } from '../access/access.ts';
import { RostrumError } from '../errors.ts';
import type { Page } from '../lists/list.ts';
import {
  type CheckedRequest,
  checkRequest,
  type ListOptions,
  type ListRequest,
  listQuery,
} from '../lists/list-request.ts';
import type { SharedFilter } from '../lists/search.ts';
import { checkOptions, checkSynchronous } from '../options.ts';
import { type HostRule, judge } from '../records/host-rules.ts';
import type { Instant } from '../records/instant.ts';
import { copyJson } from '../records/json.ts';
import {
  checkPrecondition,
  checkPreconditionOptions,
  type Precondition,
} from '../records/precondition.ts';
import {
  type CreateOptions,
  type Idempotency,
  makeReceipt,
  type Receipt,
} from '../records/receipt.ts';
import {
  type Id,
  pickFields,
  type ServerMadeFields,
  type Versioned,
  VersionedRecord,
} from '../records/record.ts';
import type { RecordModel } from '../records/record-model.ts';
import { isCleanText } from '../records/text.ts';
import type { Change, Created } from './record-service.ts';

// The use cases that users and posts have in common, as functions of a context. users.ts and posts.ts add
// their own and bind them all to a caller.

export interface RecordContext<R extends ServerMadeFields, Repo extends Repository<R>>
  extends CallContext {
  readonly repository: Repo;
  readonly model: RecordModel<R>;
  /** The host's rule about the content of records. */
  readonly rule?: HostRule<R> | undefined;
  readonly now: () => Instant;
  readonly newId: () => Id;
}

/** The part of a context that is the same for every type of record. */
interface CallContext extends ListOptions {
  /** The rights of the caller; undefined for an embedder, who is allowed to do everything. */
  readonly access: Access | undefined;
}

type Context<R extends ServerMadeFields> = RecordContext<R, Repository<R>>;

/** Creates a record, and the receipt of its idempotency key. Does not store them. */
export async function newRecord<R extends ServerMadeFields>(
  context: Context<R>,
  input: unknown,
  options: CreateOptions = {},
): Promise<{ readonly record: R; readonly receipt: Receipt | undefined }> {
  const idempotency = checkCreateOptions(context, options);
  const now = context.now();
  // Both read the input before the first await, because the caller may reuse it.
  const record = context.model.create(input, context.newId(), now);
  const receipt = idempotency && (await makeReceipt(idempotency, context.collection, input, now));
  return { record, receipt };
}

export async function storeNewRecord<R extends ServerMadeFields>(
  context: Context<R>,
  record: R,
  receipt: Receipt | undefined,
): Promise<Created<R>> {
  const { repository } = context;
  const { id } = record;
  judgeChange(context, undefined, record);
  const creation = await repository.create(record, receipt, { isNewId: true });
  // Only a replayed record is another one, whose JSON has to be parsed.
  return Object.assign(creation, { id: creation.replayed ? creation.record.id : id });
}

export async function getRecord<R extends ServerMadeFields>(
  context: Context<R>,
  id: Id,
): Promise<Versioned<R>> {
  checkId(id);
  context.access?.checkRead(id);
  const stored = await findRecord(context, id);
  checkVisible(context, id, stored, context.now);
  return stored;
}

/** Reads a record without checking the caller's rights. */
export async function findRecord<R extends ServerMadeFields>(
  context: Context<R>,
  id: Id,
): Promise<Versioned<R>> {
  const stored = isCleanText(id) ? await context.repository.get(id) : undefined;
  if (stored === undefined) throw notFound(context, id);
  return stored;
}

export async function listRecords<
  R extends ServerMadeFields,
  Filter extends SharedFilter,
  Sort extends string,
>(context: Context<R>, request: ListRequest<Filter, Sort> = {}): Promise<Page<R>> {
  const checked = checkRequest(request, context);
  context.access?.checkRead();
  const filter = context.access?.narrow(checked.filter, context.now()) ?? checked.filter;
  return readPage(context, { ...checked, filter });
}

export async function* allRecords<R extends ServerMadeFields>(
  context: Context<R>,
  request: Omit<ListRequest<SharedFilter, string>, 'total'> = {},
): AsyncGenerator<Versioned<R>> {
  let page = await listRecords(context, request);
  for (;;) {
    yield* page.items;
    if (page.next === undefined) return;
    page = await listRecords(context, { ...request, after: page.next });
  }
}

/** Changes a record by a function, which gets a copy of the record. */
export async function updateRecord<R extends ServerMadeFields>(
  context: Context<R>,
  id: Id,
  change: (record: R) => unknown,
  precondition?: Precondition,
): Promise<Change<R>> {
  if (typeof change !== 'function') throw new TypeError('The change must be a function.');
  return changeRecord(context, id, precondition, (record) => {
    // A copy, so that a function that modifies its argument does not hide the change.
    const input = change(copyJson(record));
    checkSynchronous(input, 'The change');
    return input;
  });
}

/** Replaces or patches a record with an input. */
export async function changeRecord<R extends ServerMadeFields>(
  context: Context<R>,
  id: Id,
  precondition: Precondition | undefined,
  inputOf: (record: R) => unknown,
  mode?: 'replace' | 'patch',
): Promise<Change<R>> {
  const change = await changeIfFound(context, id, precondition, inputOf, mode);
  if (change === undefined) throw notFound(context, id);
  return change;
}

/** @returns undefined if there is no record with this id */
export async function changeIfFound<R extends ServerMadeFields>(
  context: Context<R>,
  id: Id,
  precondition: Precondition = {},
  inputOf: (record: R) => unknown,
  mode: 'replace' | 'patch' = 'replace',
): Promise<Change<R> | undefined> {
  checkId(id);
  checkPreconditionOptions(precondition);
  context.access?.checkWrite();
  if (!isCleanText(id)) return undefined;
  const now = context.now();
  let changed = false;
  const stored = await context.repository.update(id, (current) => {
    checkChange(context, id, current, precondition, now);
    const { record } = current; // Read late: a large record takes long to parse.
    const input = inputOf(record);
    context.access?.checkAuthor(record, input, mode);
    const next = context.model[mode](record, input, now);
    changed = next !== record;
    if (changed) judgeChange(context, record, next);
    return next;
  });
  return stored && Object.assign(stored, { changed });
}

/** Applies the host's rule to a change by this caller. */
export function judgeChange<R extends ServerMadeFields>(
  { rule, access }: Context<R>,
  before: R | undefined,
  after: R | undefined,
): void {
  judge(rule, { before, after, caller: access?.caller });
}

/** Returns the guard of a deletion by this caller. */
export function deletionGuard<R extends ServerMadeFields>(
  context: Context<R>,
  id: Id,
  precondition: Precondition,
): Guard<R> {
  const now = context.now();
  return (current) => {
    checkChange(context, id, current, precondition, now);
    // Without a rule, the record isn't parsed.
    if (context.rule !== undefined) judgeChange(context, current.record, undefined);
  };
}

/** Throws if this caller is not allowed to change or delete this version. Called in the store's atomic step. */
function checkChange<R extends ServerMadeFields>(
  context: Context<R>,
  id: Id,
  current: Versioned<R>,
  precondition: Precondition,
  now: Instant,
): void {
  checkVisible(context, id, current, () => now);
  const { access } = context;
  // Parses the record only if its owner matters.
  if (access !== undefined && !access.canWriteAll) access.checkOwner(current.record);
  checkPrecondition(precondition, current.version);
}

/** Reads the page of a checked request, with the requested fields. */
export async function readPage<R extends ServerMadeFields>(
  context: Context<R>,
  request: CheckedRequest<SharedFilter, string>,
): Promise<Page<R>> {
  request.signal?.throwIfAborted();
  const query = listQuery(request, context);
  if (query === undefined) return { items: [], ...(request.total && { total: 0 }) };
  const page = await context.repository.list(query);
  const { fields } = request;
  if (fields === undefined || page.isProjected) return page;
  const items = page.items.map(({ record, version }) => {
    return new VersionedRecord(pickFields(record, fields), version);
  });
  return { ...page, items };
}

/** Returns the error of a record that does not exist, or that the caller is not allowed to see. */
export function notFound({ access, collection }: CallContext, id: Id): RostrumError {
  access?.checkMissing(id);
  return new RostrumError(collection === 'users' ? 'user-not-found' : 'post-not-found', { id });
}

/** @throws TypeError */
export function checkId(id: unknown): asserts id is Id {
  if (typeof id !== 'string') throw new TypeError('An id must be a string.');
}

function checkVisible<R extends ServerMadeFields>(
  context: Context<R>,
  id: Id,
  stored: Versioned<R>,
  now: () => Instant,
): void {
  const { access } = context;
  // Most callers see every record, and a large record takes long to parse.
  if (access === undefined || access.canSeeAll) return;
  if (!access.canSee(stored.record, now())) throw notFound(context, id);
}

/** @returns undefined without an idempotency key */
function checkCreateOptions(
  { access }: CallContext,
  options: CreateOptions,
): Idempotency | undefined {
  const checked = checkOptions<CreateOptions>(options, ['idempotencyKey', 'caller']);
  const { idempotencyKey } = checked;
  const caller = access?.caller.name ?? checked.caller;
  if (caller !== undefined && typeof caller !== 'string') {
    throw new TypeError('The option "caller" must be a string.');
  }
  if (idempotencyKey === undefined) return undefined;
  if (typeof idempotencyKey !== 'string' || idempotencyKey === '') {
    throw new TypeError('The option "idempotencyKey" must be a non-empty string.');
  }
  return { idempotencyKey, caller };
}
