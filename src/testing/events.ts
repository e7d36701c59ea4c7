import type { Collection, Id } from '../domain/record.ts';
import { VersionedRecord } from '../domain/record.ts';
import type { EventLog, EventPosition } from '../ports/event-log.ts';
import type { Store } from '../ports/store.ts';
import { check, is, raises, textOf } from './assertions.ts';
import { later, post, receipt, times, user } from './fixtures.ts';
import { put } from './lists.ts';
import { type Suite, transferOf } from './suite.ts';

/** For how long events that were acknowledged may stay away, in milliseconds. */
const patienceMs = 15_000;

/** The log of changes: every kind of write, and only those, in one order. */
export function describeEvents(suite: Suite): void {
  const { contract, test } = suite;
  if (contract.withoutEvents === undefined) {
    describeWrites(suite);
    describePositions(suite);
  } else {
    test(`there is none: ${contract.withoutEvents}`, async ({ events }) => {
      if (events) await raises(events.read(1), 'events-unavailable');
    });
  }
}

function describeWrites({ both, test, contract }: Suite): void {
  both('creations, changes and deletions', async ({ name, records, make, remove }, store) => {
    const told = await listener(store);
    const [one, two] = [make(), make()];
    await put(records, [one]);
    await put(records, [two]);
    for (const n of [1, 2]) await records.update(one.id, ({ record }) => ({ ...record, n }));
    await remove(one.id);
    await told([
      [name, one.id, 1],
      [name, two.id, 1],
      [name, one.id, 2],
      [name, one.id, 3],
      [name, one.id, null],
    ]);
  });

  both('no event of what changes nothing, is refused or is replayed', async (resource, store) => {
    const { name, records, make, remove } = resource;
    const [record, key, refusal] = [make(), receipt(), new RangeError('refused')];
    const refuse = () => {
      throw refusal;
    };
    const refused = (call: Promise<unknown>) =>
      call.then(
        () => check(false, 'a call was not refused'),
        (error: unknown) => check(error === refusal, `a call ended in ${textOf(error)}`),
      );
    const told = await listener(store);
    await records.create(record, key);
    await records.create(make(), key);
    await raises(
      records.create(make(), { ...key, fingerprint: 'other' }),
      'idempotency-key-reused',
    );
    await raises(records.create(make({ id: record.id })), 'id-taken');
    await records.update(record.id, (current) => current.record);
    await records.update('none', ({ record: none }) => ({ ...none, n: 1 }));
    await refused(records.update(record.id, refuse));
    await refused(remove(record.id, refuse));
    await remove('none');
    await told([[name, record.id, 1]]);
  });

  test('no event of what conflicts with other records', async (store) => {
    const { users, posts } = store;
    const told = await listener(store);
    const [one, two] = [user(), user()];
    await put(users, [one, two]);
    await raises(users.create(user({ email: one.email })), 'email-taken');
    const taken = users.update(two.id, ({ record }) => ({ ...record, email: one.email }));
    await raises(taken, 'email-taken');
    await raises(posts.create(post({ authorId: 'none' })), 'invalid-record');
    const theirs = post({ authorId: one.id });
    await put(posts, [theirs]);
    await raises(users.delete(one.id, 'refuse', later), 'user-has-posts');
    const expected = [one, two].map(({ id }) => ['users', id, 1] as const);
    await told([...expected, ['posts', theirs.id, 1]], true);
  });

  for (const mode of ['delete', 'keep'] as const) {
    test(`one event of each post that a deletion does "${mode}" with`, async (store) => {
      const { users, posts } = store;
      for (const count of [0, 1, 120]) {
        const [author, other] = [user(), post()];
        await put(users, [author]);
        const theirs = times(count, () => post({ authorId: author.id }));
        await put(posts, [...theirs, other]);
        const told = await listener(store);
        await users.delete(author.id, mode, later);
        const version = mode === 'delete' ? null : 2;
        const ofPosts = theirs.map(({ id }) => ['posts', id, version] as const);
        await told([...ofPosts, ['users', author.id, null]], true);
      }
    });
  }

  if (contract.withoutTransfer !== undefined) return;
  both('load: what is new, or at another version', async ({ name, records, make }, store) => {
    const [one, two] = [make(), make()];
    await put(records, [one]);
    const transfer = transferOf(store)[name] as unknown as {
      load(all: readonly VersionedRecord<typeof one>[]): Promise<void>;
    };
    const told = await listener(store);
    await transfer.load([new VersionedRecord(one, 1), new VersionedRecord(two, 7)]);
    await transfer.load([new VersionedRecord({ ...one, n: 1 }, 5), new VersionedRecord(two, 7)]);
    await told(
      [
        [name, two.id, 7],
        [name, one.id, 5],
      ],
      true,
    );
  });
}

function describePositions({ test }: Suite): void {
  test('reading on meets every event once, whatever the limit', async (store) => {
    const log = logOf(store);
    const { next } = await log.read(1);
    is('events without a position', (await log.read(10)).events, []);
    const ids = await put(
      store.posts,
      times(25, () => post()),
    );
    await until(async () => (await log.read(1000, next)).events.length >= ids.length);
    let end = next;
    for (const limit of [1, 7, 25, 1000]) {
      const met: Id[] = [];
      let position = next;
      for (let page = await log.read(limit, next); page.events.length > 0; ) {
        check(
          page.events.length <= limit,
          `a page has ${page.events.length} events, limit ${limit}`,
        );
        met.push(...page.events.map(({ id }) => id));
        position = page.next;
        page = await log.read(limit, position);
      }
      is(`events by a limit of ${limit}`, met.toSorted(), ids.toSorted());
      end = (await log.read(limit, position)).next;
    }
    const [id = ''] = await put(store.posts, [post()]);
    await until(async () => (await log.read(1, end)).events.length === 1);
    is('the event behind an empty page', (await log.read(1, end)).events, [
      { collection: 'posts', id, version: 1 },
    ]);
  });

  test('events are values: to change one changes the log for no other reader', async (store) => {
    const log = logOf(store);
    const { next } = await log.read(1);
    await put(store.users, [user()]);
    await until(async () => (await log.read(1, next)).events.length > 0);
    const { events } = await log.read(1, next);
    const before = textOf(events);
    for (const event of events) Object.assign(event, { id: 'changed' });
    is('the same events, read again', textOf((await log.read(1, next)).events), before);
  });

  test('a position that is no position of this log is expired', async (store) => {
    const log = logOf(store);
    const { next } = await log.read(1);
    check(/^[!-~]{1,512}$/.test(next), `the position is not 1 to 512 visible characters: ${next}`);
    const other = `${next[0] === '1' ? '2' : '1'}${next.slice(1)}`;
    for (const position of ['', 'x', '0', '\0', next.slice(1), other]) {
      await raises(log.read(1, position), 'events-expired');
    }
  });
}

/** The log of a store that has to have one. */
export function logOf({ events }: Store): EventLog {
  check(events, 'the store has no log of events; a contract may say why (withoutEvents)');
  return events;
}

type Told = readonly [collection: Collection, id: Id, version: number | null];

/**
 * Listens from now on.
 *
 * @returns holds what the log has told since to what it should have; a last write shows that it is all
 */
async function listener(store: Store) {
  const log = logOf(store);
  const { next } = await log.read(1);
  return async (expected: readonly Told[], inAnyOrder = false): Promise<void> => {
    const [last = ''] = await put(store.users, [user()]);
    const met: Told[] = [];
    let position: EventPosition = next;
    await until(async () => {
      const page = await log.read(50, position);
      position = page.next;
      met.push(
        ...page.events.map(({ collection, id, version }) => [collection, id, version] as const),
      );
      return met.some(([, id]) => id === last);
    });
    is('the last event', met.pop(), ['users', last, 1]);
    const order = (events: readonly Told[]) =>
      inAnyOrder ? events.map(textOf).toSorted() : events;
    is('events', order(met), order(expected));
  };
}

/** Waits until something is so, for as long as a log may take. */
export async function until(isSo: () => Promise<boolean>, pauseMs = 20): Promise<void> {
  const end = Date.now() + patienceMs;
  while (!(await isSo())) {
    check(Date.now() < end, `no event came in ${patienceMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
