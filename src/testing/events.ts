import { createMemoryStore } from '../adapters/memory/index.ts';
import type { Collection, Id } from '../domain/records/record.ts';
import type { EventLog, EventPosition, RecordEvent } from '../ports/event-log.ts';
import type { Store } from '../ports/store.ts';
import { assert, expectEqual, expectError, quote } from './assertions.ts';
import { later, post, times, user } from './fixtures.ts';
import { insert } from './lists/lists.ts';
import type { Suite } from './suite.ts';

/** How long a test waits for an acknowledged event, at a store with a long delay and on a busy machine. */
const patienceMs = 45_000;

/** The log of changes. */
export function describeEvents(suite: Suite): void {
  const { contract, test } = suite;
  if (contract.withoutEvents === undefined) {
    describeReads(suite);
  } else {
    test(`has no log: ${contract.withoutEvents}`, async ({ events }) => {
      if (events) await expectError(events.read(1), 'events-unavailable');
    });
  }
}

function describeReads({ test }: Suite): void {
  test('reading on from "next" returns every event once, at any limit', async (store) => {
    const log = logOf(store);
    const { next, events } = await log.read(10);
    expectEqual('the events without a position', events, []);
    const created = times(25, () => post());
    const ids = await insert(store.posts, created);
    await until(async () => (await log.read(1000, next)).events.length >= ids.length);
    let end = next;
    for (const limit of [1, 7, 25, 1000]) {
      const received: Id[] = [];
      end = next;
      for (let length = 1; length > 0; ) {
        const page = await log.read(limit, end);
        ({ length } = page.events);
        assert(length <= limit, `a page has ${length} events, the limit is ${limit}`);
        received.push(...page.events.map(({ id }) => id));
        end = page.next;
      }
      expectEqual(`the ids of events, limit ${limit}`, received.toSorted(), ids.toSorted());
    }
    const [id = ''] = await insert(store.posts, [post()]);
    await until(async () => (await log.read(1, end)).events.length === 1);
    expectEqual('the events without a position, later', (await log.read(10)).events, []);
    expectEqual('the event after an empty page', (await log.read(1, end)).events, [
      { type: 'created', collection: 'posts', id, version: 1 },
    ]);
  });

  test('modifying an event does not affect other readers', async (store) => {
    const log = logOf(store);
    const { next } = await log.read(1);
    await insert(store.users, [user()]);
    await until(async () => (await log.read(1, next)).events.length > 0, 0);
    const { events } = await log.read(1, next);
    const before = JSON.stringify(events);
    for (const event of events) Object.assign(event, { id: 'changed' });
    expectEqual('the same events', JSON.stringify((await log.read(1, next)).events), before);
  });

  test('an unknown position throws events-expired', async (store) => {
    const log = logOf(store);
    const { next: start } = await log.read(1);
    await insert(store.users, [user(), user(), user()]);
    await until(async () => (await log.read(3, start)).events.length === 3);
    const { next } = await log.read(1, start);
    assert(/^[!-~]{1,512}$/.test(next), `a position is not 1 to 512 visible characters: ${next}`);
    const other = `${next[0] === '1' ? '2' : '1'}${next.slice(1)}`;
    const forms = ['1$&', '+$&', ' $&', '0$&', '$&.0', '$&e0', '0x$&', '-$&', '$&$&'];
    forms.push('$&.5', '-1', '0.5', '-0.5', '5e-324'); // No event has such a number.
    const odd = [/\d+/, /\d+(?!.*\d)/].flatMap((digits) => [
      next.replace(digits, (number) => String(Number(number) + 1000)),
      ...forms.map((form) => next.replace(digits, form)),
    ]);
    const { next: foreign } = await logOf(createMemoryStore()).read(1);
    for (const position of ['', 'x', '0', next.slice(1), other, foreign, ...odd]) {
      await expectError(log.read(1, position), 'events-expired');
    }
  });
}

/** Followers of the log while others write. With two handles, both return the same events. */
export function describeEventRaces({ contract, test }: Suite): void {
  if (contract.withoutEvents !== undefined) return;
  test('all followers receive the events of racing writers in the same order', async (store) => {
    const { users, posts } = store;
    const log = logOf(store);
    const { next: start } = await log.read(1);
    const written: string[] = [];
    const note = (type: RecordEvent['type'], collection: Collection, id: Id, version: number) =>
      written.push(`${collection} ${id} ${type} ${version}`);
    const writers = times(20, async (n) => {
      const author = user();
      const text = post();
      await users.create(author);
      note('created', 'users', author.id, 1);
      await posts.create({ ...text, authorId: author.id });
      note('created', 'posts', text.id, 1);
      for (let version = 2; version < 5; version++) {
        await posts.update(text.id, ({ record }) => ({ ...record, version }));
        note('updated', 'posts', text.id, version);
      }
      await users.delete(author.id, n % 2 === 0 ? 'keep' : 'delete', later);
      note(n % 2 === 0 ? 'updated' : 'deleted', 'posts', text.id, n % 2 === 0 ? 5 : 4);
      note('deleted', 'users', author.id, 1);
    });
    const followers = [1, 2, 3, 10, 1000].map(async (limit) => {
      const received: RecordEvent[] = [];
      let [position, reads] = [start, 0];
      await until(async () => {
        const page = await log.read(limit, position);
        // Like a follower that crashes before it stores its position, and then reads the page again.
        if (++reads % 3 !== 0) {
          for (const event of page.events) await expectReadable(store, event);
          received.push(...page.events);
          position = page.next;
        }
        return received.length >= 20 * 7;
      }, 0);
      return received.map(
        (event) => `${event.collection} ${event.id} ${event.type} ${event.version}`,
      );
    });
    const [followed] = await Promise.all([Promise.all(followers), Promise.all(writers)]);
    const [one = [], ...others] = followed;
    expectEqual('the events of the writers', one.toSorted(), written.toSorted());
    for (const received of others) expectEqual('the order of events', received, one);
    const order = (events: readonly string[], name: string) =>
      events.filter((event) => event.startsWith(`${name} `));
    for (const name of new Set(written.map((event) => event.split(' ', 2).join(' ')))) {
      expectEqual(`the events of ${name}`, order(one, name), order(written, name));
    }
  });
}

/** Expects that the change of an event, or a later one, can be read. */
async function expectReadable({ users, posts }: Store, event: RecordEvent): Promise<void> {
  const records = event.collection === 'users' ? users : posts;
  const found = await records.get(event.id);
  const isReadable =
    event.type === 'deleted'
      ? found === undefined
      : ((await records.lastVersion(event.id)) ?? 0) >= event.version;
  assert(isReadable, `the event ${quote(event)} can be read before its change`);
}

/** Returns the log of a store that must have one. */
export function logOf({ events }: Store): EventLog {
  assert(events, 'it has no log of events, and its contract does not say why (withoutEvents)');
  return events;
}

/**
 * Notes the end of the log. `expect` compares the events since then: in the order of versions for each
 * record, and in any order between records. It creates the user `last`, whose event is the end. It also reads
 * on again from earlier positions.
 */
export async function followEvents(store: Store) {
  let log = logOf(store);
  let position: EventPosition = (await log.read(1)).next;
  const received: RecordEvent[] = [];
  /** Earlier positions, and how many events came before them. */
  let earlier: (readonly [EventPosition, number])[] = [];
  const read = async (limit: number) => {
    earlier.push([position, received.length]);
    const page = await log.read(limit, position);
    position = page.next;
    received.push(...page.events);
  };
  /** Continues on another handle of the same data. Its log may have dropped the events before. */
  const restarted = async (other: Store): Promise<void> => {
    store = other;
    log = logOf(other);
    const [outcome] = await Promise.allSettled([log.read(1, position)]);
    if (outcome.status === 'fulfilled') return;
    await expectError(Promise.reject(outcome.reason), 'events-expired');
    position = (await log.read(1)).next;
    earlier = [];
  };
  const expect = async (expected: readonly RecordEvent[], last = user()): Promise<void> => {
    await insert(store.users, [last]);
    await until(async () => {
      await read(5000);
      return received.some(({ id }) => id === last.id);
    });
    const others = (events: readonly RecordEvent[]) =>
      byRecord(events.filter(({ id }) => id !== last.id));
    expectEqual('the events', others(received), others(expected));
    // A log can drop old events, but no store drops this few.
    const kept = earlier.filter(([, before]) => received.length - before <= 1000);
    const step = Math.ceil(kept.length / 8);
    for (const [from, count] of kept.filter((_, n) => n % step === 0)) {
      const found: RecordEvent[] = [];
      let next = from;
      await until(async () => {
        const page = await log.read(5000, next);
        found.push(...page.events);
        ({ next } = page);
        return found.length >= received.length - count;
      });
      expectEqual('the events after an earlier position', found, received.slice(count));
    }
  };
  return { read, restarted, expect };
}

function byRecord(events: readonly RecordEvent[]): Record<string, string[]> {
  const lists: Record<string, string[]> = {};
  for (const { type, collection, id, version } of events) {
    const name = `${collection} ${id}`;
    lists[name] = [...(lists[name] ?? []), `${type} ${version}`];
  }
  return lists;
}

/** Waits until a condition holds, at most for as long as a test waits for events. */
async function until(holds: () => Promise<boolean>, pauseMs = 20): Promise<void> {
  const end = Date.now() + patienceMs;
  while (!(await holds())) {
    assert(Date.now() < end, `an event is still missing after ${patienceMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
