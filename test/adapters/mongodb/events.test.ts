import { expect } from 'chai';
import { BSON, type ChangeStream, type ChangeStreamDocument, type Document } from 'mongodb';
import { Connection } from '../../../src/adapters/mongodb/connection/connection.ts';
import { readUrl } from '../../../src/adapters/mongodb/connection/connection-string.ts';
import { MongodbEvents } from '../../../src/adapters/mongodb/events.ts';
import type { MongodbStore } from '../../../src/adapters/mongodb/index.ts';
import type { EventLog, RecordEvent } from '../../../src/ports/event-log.ts';
import { safeLogger } from '../../../src/ports/logger.ts';
import { later, newReceipt, post, times, user } from '../../../src/testing/fixtures.ts';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { until, untilServed } from '../../support/until.ts';
import { useDatabase } from './store-on.ts';

type Kind = RecordEvent['type'] | 'none';

/** The event that each kind of write produces (see `formOf`). Add new kinds of writes here. */
const forms: Readonly<Record<string, Kind>> = {
  'users insert version': 'created',
  'users update version': 'updated',
  'users update authorLock': 'none',
  'users update': 'none',
  'users delete': 'none',
  'posts insert version': 'created',
  'posts update version': 'updated',
  'posts update': 'none',
  'posts delete': 'none',
  'userTombstones insert lastVersion': 'deleted',
  'userTombstones insert isLoaded lastVersion': 'none',
  'userTombstones update lastVersion': 'none',
  'userTombstones delete': 'none',
  'postTombstones insert lastVersion': 'deleted',
  'postTombstones insert isLoaded lastVersion': 'none',
  'postTombstones update lastVersion': 'none',
  'postTombstones delete': 'none',
  'receipts insert version': 'none',
  'receipts replace version': 'none',
  'rostrum insert': 'none',
  'rostrum delete': 'none',
};

await describeOnMongodb('events on MongoDB', () => {
  const database = useDatabase();

  before('create the indexes', async function () {
    this.timeout(60_000);
    const store = database.open();
    await untilServed(() => store.ready(), 50_000);
  });

  it('are produced by each kind of write as the table above says', async function () {
    this.timeout(60_000);
    const store = database.open();
    const log = logOf(store);
    const { next } = await log.read(1);
    const raw = database.db.watch();
    await raw.tryNext();
    await writeAll(store);
    const last = user();
    await store.users.create(last);
    const changes = await changesUntil(raw, last.id);
    await raw.close();

    expect([...new Set(changes.map(formOf))]).to.have.members(Object.keys(forms));
    const told = changes.flatMap((change) => eventOf(change, forms[formOf(change)]));
    told.push({ type: 'created', collection: 'users', id: last.id, version: 1 });
    expect(await allBehind(log, next)).to.deep.equal(told);
  });

  it('tell of a record that another program replaces', async () => {
    const store = database.open();
    const log = logOf(store);
    const { id } = user();
    await store.users.create(user({ id }));
    const { next } = await log.read(1);
    const users = database.db.collection<{ _id: string; version: number }>('users');
    const { _id, ...fields } = (await users.findOne({ _id: id })) ?? { version: 0 };
    await users.replaceOne({ _id: id }, { ...fields, version: fields.version + 1 });
    const event = { type: 'updated', collection: 'users', id, version: 2 };
    expect((await log.read(10, next)).events).to.deep.equal([event]);
  });

  it('are read without loading record contents, writing, or leaving a cursor open', async () => {
    const { url } = database;
    const db = readUrl(`${url}${url.includes('?') ? '&' : '?'}monitorCommands=true`);
    const connection = new Connection(db, safeLogger(undefined), {});
    try {
      const log = new MongodbEvents(connection);
      const { next } = await log.read(1);
      const store = database.open();
      const body = 'x'.repeat(50_000);
      const made = post({ body });
      await store.posts.create(made, newReceipt());
      await store.posts.update(made.id, ({ record }) => ({ ...record, body: `${body}y` }));
      await store.posts.delete(made.id);
      const replies: (readonly [string, number])[] = [];
      db.client.on('commandSucceeded', ({ commandName, reply }) =>
        replies.push([commandName, BSON.calculateObjectSize(reply as Document)]),
      );
      expect((await log.read(10, next)).events).to.have.lengthOf(3);
      await until(() => replies.length >= 3, 'the cursor is closed');
      const names = replies.map(([name]) => name).filter((name) => name !== 'endSessions');
      expect(names).to.deep.equal(['find', 'aggregate', 'killCursors']);
      for (const [name, bytes] of replies) expect(bytes, name).to.be.below(2000);
    } finally {
      await connection.close();
    }
  });
});

/** Makes every kind of change to users and posts. */
async function writeAll({ users, posts, transfer }: MongodbStore): Promise<void> {
  const author = user();
  await users.create(author);
  for (const [of, make] of [
    [users, user],
    [posts, post],
  ] as const) {
    const [record, once] = [make(), newReceipt()];
    await of.create(record as never, once);
    // Replaces the expired receipt.
    await of.create(make() as never, { ...once, from: once.until, until: later });
    await of.update(record.id, (current) => ({ ...current.record, n: 1 }) as never);
    const remove = () =>
      of === users ? users.delete(record.id, 'refuse', later) : posts.delete(record.id);
    await remove();
    await of.create(record as never);
    await remove();
  }
  const moved = post();
  await posts.create(moved);
  await posts.update(moved.id, ({ record }) => ({ ...record, authorId: author.id }));
  await posts.create(post({ authorId: 'none' })).catch(() => {});
  await users.delete(author.id, 'refuse', later).catch(() => {});
  for (const mode of ['keep', 'delete'] as const) {
    const owner = user();
    await users.create(owner);
    await Promise.all(times(3, () => posts.create(post({ authorId: owner.id }))));
    await users.delete(owner.id, mode, later);
  }
  await transfer.begin();
  await transfer.end();
  for (const [of, make] of [
    [transfer.users, user],
    [transfer.posts, post],
  ] as const) {
    const record = make();
    const load = (version: number, fields: object) =>
      of.load([{ record: { ...record, ...fields } as never, version, json: '' }]);
    await load(7, {});
    await load(7, { other: true });
    await load(8, {});
    await of.deleted.load([{ id: `gone ${record.id}`, lastVersion: 3 }]);
    await of.deleted.load([{ id: `gone ${record.id}`, lastVersion: 5 }]);
  }
}

/** Returns the collection, the operation and the marker fields that a change writes. */
function formOf(change: ChangeStreamDocument): string {
  const { operationType, ns } = change as ChangeStreamDocument & { ns: { coll: string } };
  const { fullDocument = {}, updateDescription = {} } = change as Document;
  const written = Object.keys({ ...fullDocument, ...updateDescription.updatedFields });
  const marks = ['version', 'authorLock', 'lastVersion', 'isLoaded'];
  const told = marks.filter((mark) => written.includes(mark)).toSorted();
  return [ns.coll, operationType, ...told].join(' ');
}

function eventOf(change: ChangeStreamDocument, type: Kind | undefined): RecordEvent[] {
  if (type === undefined || type === 'none') return [];
  const { ns, documentKey, fullDocument = {}, updateDescription } = change as Document;
  const { version = fullDocument.lastVersion } = {
    ...fullDocument,
    ...updateDescription?.updatedFields,
  };
  const collection = ns.coll.startsWith('user') ? 'users' : 'posts';
  return [{ type, collection, id: documentKey._id, version }];
}

async function changesUntil(raw: ChangeStream, id: string): Promise<ChangeStreamDocument[]> {
  const changes: ChangeStreamDocument[] = [];
  for await (const change of raw) {
    if ('documentKey' in change && String(change.documentKey._id) === id) break;
    changes.push(change);
  }
  return changes;
}

async function allBehind(log: EventLog, after: string): Promise<RecordEvent[]> {
  const events: RecordEvent[] = [];
  for (let page = await log.read(1000, after); page.events.length > 0; ) {
    events.push(...page.events);
    page = await log.read(1000, page.next);
  }
  return events;
}

function logOf({ events }: MongodbStore): EventLog {
  if (events === undefined) throw new Error('The store has no log.');
  return events;
}
