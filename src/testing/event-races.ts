import type { Collection, Id } from '../domain/record.ts';
import type { RecordEvent } from '../ports/event-log.ts';
import type { Store } from '../ports/store.ts';
import { check, is, textOf } from './assertions.ts';
import { logOf, until } from './events.ts';
import { later, post, times, user } from './fixtures.ts';
import type { Suite } from './suite.ts';

/** Followers of the log while others write: where there are two handles, both tell the same. */
export function describeEventRaces({ contract, test }: Suite): void {
  if (contract.withoutEvents !== undefined) return;
  test('writers that race and followers that come and go: one order for all', async (store) => {
    const { users, posts } = store;
    const log = logOf(store);
    const { next: start } = await log.read(1);
    const ledger: string[] = [];
    const note = (collection: Collection, id: Id, version: number | null) =>
      ledger.push(`${collection} ${id} ${version}`);
    const writers = times(20, async (n) => {
      const [author, text] = [user(), post()];
      await users.create(author);
      note('users', author.id, 1);
      await posts.create({ ...text, authorId: author.id });
      note('posts', text.id, 1);
      for (let version = 2; version < 5; version++) {
        await posts.update(text.id, ({ record }) => ({ ...record, version }));
        note('posts', text.id, version);
      }
      await users.delete(author.id, n % 2 === 0 ? 'keep' : 'delete', later);
      note('posts', text.id, n % 2 === 0 ? 5 : null);
      note('users', author.id, null);
    });
    const followers = [1, 2, 3, 10, 1000].map(async (limit) => {
      const met: RecordEvent[] = [];
      let [position, reads] = [start, 0];
      const isAll = () => met.length >= 20 * 7;
      await until(async () => {
        const page = await log.read(limit, position);
        // A follower that dies before it notes its position meets a page again, and begins there.
        if (++reads % 3 !== 0) {
          for (const event of page.events) await isMade(store, event);
          met.push(...page.events);
          position = page.next;
        }
        return isAll();
      }, 0);
      return met.map(({ collection, id, version }) => `${collection} ${id} ${version}`);
    });
    const [followed] = await Promise.all([Promise.all(followers), Promise.all(writers)]);
    const [one = [], ...others] = followed;
    is('events of the writers', one.toSorted(), ledger.toSorted());
    for (const met of others) is('order of events', met, one);
    const versions = new Map<string, number>();
    for (const event of one) {
      const [collection, id, version] = event.split(' ');
      const before = versions.get(`${collection} ${id}`) ?? 0;
      const at = version === 'null' ? Number.POSITIVE_INFINITY : Number(version);
      check(at > before, `the event ${event} comes behind version ${before}`);
      versions.set(`${collection} ${id}`, at);
    }
  });
}

/** Checks that the change is there, or a later one. */
async function isMade({ users, posts }: Store, event: RecordEvent): Promise<void> {
  const { collection, id, version } = event;
  const records = collection === 'users' ? users : posts;
  const found = await records.get(id);
  const isThere =
    found === undefined
      ? version === null || (await records.isIdTaken(id))
      : version !== null && found.version >= version;
  check(isThere, `the event ${textOf(event)} is told before its change is there`);
}
