import { type Instant, instantFromMs } from '../../src/domain/instant.ts';
import type { FieldIssue } from '../../src/domain/issues.ts';
import { canonicalJson, type JsonObject } from '../../src/domain/json.ts';
import type { Page, Position, PostSort, UserSort } from '../../src/domain/page.ts';
import type { Post } from '../../src/domain/post.ts';
import type { Versioned } from '../../src/domain/record.ts';
import type { Rostrum } from '../../src/domain/services/rostrum.ts';
import type { User } from '../../src/domain/user.ts';
import { isRostrumError } from '../../src/index.ts';
import type { Calls, ListCall } from './calls.ts';
import type { Outcome } from './outcome.ts';

/** The calls, made on the core itself. */
export function coreCalls(rostrum: Rostrum): Calls {
  const { users, posts } = rostrum;
  return {
    create: (kind, input, key) =>
      outcome(async () => {
        const idempotency =
          key === undefined ? undefined : { key, fingerprint: canonicalJson(input) };
        const { stored, replayed } = await rostrum[kind].create(input, idempotency);
        return { made: stored.record, version: stored.version, replayed };
      }),
    get: (kind, id) => outcome(() => rostrum[kind].get(id)),
    replace: (kind, id, input, condition) =>
      outcome(() => rostrum[kind].replace(id, input, condition)),
    patch: (kind, id, patch, condition) => outcome(() => rostrum[kind].patch(id, patch, condition)),
    deleteUser: (id, mode, condition) =>
      outcome(async () => {
        await users.delete(id, mode, condition);
        return { deleted: true };
      }),
    deletePost: (id, condition) =>
      outcome(async () => {
        await posts.delete(id, condition);
        return { deleted: true };
      }),
    list: (call) => outcome(() => walk(rostrum, call)),
  };
}

async function walk(rostrum: Rostrum, call: ListCall): Promise<Outcome> {
  const records: JsonObject[] = [];
  let total = 0;
  let after: Position | undefined;
  do {
    const page = await listPage(rostrum, call, after);
    records.push(...page.items.map(({ record }) => record));
    total = page.total ?? -1;
    after = page.next;
  } while (after !== undefined);
  return { records, total };
}

function listPage(
  { users, posts }: Rostrum,
  call: ListCall,
  after: Position | undefined,
): Promise<Page<Versioned<User | Post>>> {
  const { kind, sort, descending, limit, ids, name, email, title, authorId } = call;
  const createdAt = { from: instantOf(call.createdFrom) };
  const updatedAt = { before: instantOf(call.updatedBefore) };
  const direction = descending ? ('desc' as const) : ('asc' as const);
  const page = { limit, after, total: true };
  if (kind === 'users') {
    const filter = { ids, createdAt, updatedAt, name, email };
    return users.list({ filter, order: { by: sort as UserSort, direction }, ...page });
  }
  const filter = { ids, createdAt, updatedAt, title, authorId };
  return posts.list({ filter, order: { by: sort as PostSort, direction }, ...page });
}

function instantOf(ms: number | undefined): Instant | undefined {
  return ms === undefined ? undefined : instantFromMs(ms);
}

/** What a call ends in: its value, or the core's error; any other error is a failure. */
async function outcome(call: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await call();
  } catch (error) {
    if (!isRostrumError(error)) throw error;
    const { code, details } = error;
    const { issues, posts, version } = details as Partial<Details>;
    return {
      error: code,
      ...(issues && { issues: issues.map((issue) => `${issue.pointer} ${issue.code}`).sort() }),
      ...(posts !== undefined && { posts }),
      ...(version !== undefined && { version }),
    };
  }
}

interface Details {
  readonly issues: readonly FieldIssue[];
  readonly posts: number;
  readonly version: number;
}
