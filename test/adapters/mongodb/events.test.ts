import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { BSON, type ChangeStream, type ChangeStreamDocument, type Document } from 'mongodb';
import { readUrl } from '../../../src/adapters/mongodb/connection/client-options.ts';
import { Connection } from '../../../src/adapters/mongodb/connection/connection.ts';
import { MongodbEvents } from '../../../src/adapters/mongodb/events.ts';
import { migratePart } from '../../../src/adapters/mongodb/migration/records.ts';
import { collectionNames } from '../../../src/adapters/mongodb/schema/collections.ts';
import type { MongodbStore } from '../../../src/adapters/mongodb/store.ts';
import { sweep } from '../../../src/adapters/mongodb/sweep.ts';
import { storeUnavailable } from '../../../src/domain/errors.ts';
import { VersionedRecord } from '../../../src/domain/record.ts';
import type { EventLog, RecordEvent } from '../../../src/ports/event-log.ts';
import { later, post, receipt, times, user } from '../../../src/testing/fixtures.ts';
import { describeOn } from '../../support/mongod/shared.ts';
import { until, untilServed } from '../../support/until.ts';
import { useDatabase } from './store-on.ts';

/** What a write is to a follower, by its form in the log: see `formOf`. */
const forms: Readonly<Record<string, Kind>> = {
  'users insert record version': 'version',
  'users insert claims record version': 'version',
  'users replace record version': 'version',
  'users update record version': 'version',
  'users update claims record version': 'version',
  'users replace claims record version': 'version',
  'users replace': 'deletion',
  'users replace claims': 'deletion',
  'users update -leaving -record -version': 'deletion',
  'users update -leaving -record -version claims': 'deletion',
  // Marks, receipts, and what the migration of an earlier version writes.
  'users update leaving': 'none',
  'users update -leaving': 'none',
  'users update claims': 'none',
  'users update': 'none',
  'posts insert record version': 'version',
  'posts insert claims record version': 'version',
  'posts replace record version': 'version',
  'posts replace claims record version': 'version',
  'posts update record version': 'version',
  'posts update claims record version': 'version',
  'posts update -joining record version': 'version',
  'posts update -joining claims record version': 'version',
  'posts replace': 'deletion',
  'posts replace claims': 'deletion',
  'posts update -record -version': 'deletion',
  'posts update -record -version claims': 'deletion',
  'posts insert expires joining pending': 'none',
  'posts insert claims expires joining pending': 'none',
  'posts delete': 'none',

  'posts update joining': 'none',
  'posts update claims': 'none',
  'posts update record': 'none',
};

type Kind = 'version' | 'deletion' | 'none';

await describeOn('replica set', 'Events on MongoDB', () => {
  const database = useDatabase('replica set');

  before('indexes are made', async function () {
    this.timeout(60_000);
    const store = database.open();
    await untilServed(() => store.ready(), 50_000);
  });

  const collection = (name: 'users' | 'posts') =>
    database.db.collection<{ _id: string }>(collectionNames[name]);
  const steps = new Set<string>();
  const opened: Connection[] = [];
  const open = (failing: readonly string[] = []): MongodbStore =>
    database.open({
      intercept: async (step, run) => {
        steps.add(step);
        if (failing.includes(step)) throw storeUnavailable('unknown');
        return run();
      },
    });

  afterEach(() => Promise.all(opened.splice(0).map((connection) => connection.close())));

  it('of every kind of write, as the table of forms says', async function () {
    this.timeout(60_000);
    const store = open();
    const log = logOf(store);
    const { next } = await log.read(1);
    const raw = database.db.watch();
    await raw.tryNext();
    await writeAll(store);
    const last = user();
    await store.users.create(last);
    const changes = await changesUntil(raw, last.id);
    await raw.close();

    const met = changes.map(formOf);
    expect(Object.keys(forms)).to.include.members([...new Set(met)]);
    expect([...steps]).to.have.members(stepsInSource());
    const told = changes.flatMap((change, n) => eventOf(change, forms[met[n] ?? '']));
    expect(await allBehind(log, next)).to.deep.equal([
      ...told,
      { collection: 'users', id: last.id, version: 1 },
    ]);
  });

  it('are read without any part of a record, and without a write or a cursor that stays', async () => {
    const { url } = database;
    const settings = readUrl(`${url}${url.includes('?') ? '&' : '?'}monitorCommands=true`);
    const connection = new Connection(settings, undefined, (_step, run) => run());
    const log = new MongodbEvents(connection);
    opened.push(connection);
    const { next } = await log.read(1);
    const store = database.open();
    const body = 'x'.repeat(50_000);
    const made = post({ body });
    await store.posts.create(made, receipt());
    await store.posts.update(made.id, ({ record }) => ({ ...record, body: `${body}y` }));
    await store.posts.delete(made.id);
    const replies: (readonly [string, number])[] = [];
    settings.client.on('commandSucceeded', ({ commandName, reply }) =>
      replies.push([commandName, BSON.calculateObjectSize(reply as Document)]),
    );
    expect((await log.read(10, next)).events).to.have.lengthOf(3);
    await until(() => replies.length >= 3, 'the cursor is closed');
    const names = replies.map(([name]) => name).filter((name) => name !== 'endSessions');
    expect(names).to.deep.equal(['find', 'aggregate', 'killCursors']);
    for (const [name, bytes] of replies) expect(bytes, name).to.be.below(2000);
  });

  /** Every step of every change, with receipts and without. */
  async function writeAll(store: MongodbStore): Promise<void> {
    const { users, posts, transfer } = store;
    const [one, two, three, four] = [user(), user(), user(), user()];
    await users.create(one);
    await users.create(two, receipt());
    await users.create(four, receipt());
    await users.delete(four.id, 'refuse', later);
    await Promise.all([users.create(three), posts.create(post()), posts.create(post())]);
    for (const { id } of [one, two]) {
      for (const n of [1, 2]) await users.update(id, ({ record }) => ({ ...record, n }));
    }
    const [plain, kept, named] = [post(), post(), post({ authorId: one.id })];
    await posts.create(plain);
    await posts.create(kept, receipt());
    await posts.create(named);
    await posts.create(post({ authorId: one.id }), receipt());
    await posts.create(post({ authorId: 'none' })).catch(() => {});
    for (const { id } of [plain, kept, named]) {
      await posts.update(id, ({ record }) => ({ ...record, authorId: two.id }));
      await posts.update(id, ({ record }) => ({ ...record, authorId: 'none' })).catch(() => {});
      await posts.update(id, ({ record }) => ({ ...record, authorId: null, body: 'x' }));
    }
    await transfer.users.load([new VersionedRecord(user(), 7), new VersionedRecord(one, 8)]);
    await transfer.posts.load([new VersionedRecord(post(), 7), new VersionedRecord(kept, 8)]);
    await transfer.posts.load([new VersionedRecord(kept, 8)]);
    await posts.delete(plain.id);
    await posts.delete(kept.id);
    await users.delete(two.id, 'refuse', later);
    await users.delete(one.id, 'refuse', later).catch(() => {});
    await users.delete(one.id, 'keep', later);
    for (const mode of ['keep', 'delete'] as const) {
      const author = user();
      await users.create(author);
      const theirs = times(8, (n) => [post({ authorId: author.id }), n] as const);
      for (const [record, n] of theirs) await posts.create(record, n > 3 ? receipt() : undefined);
      await users.delete(author.id, mode, later);
    }
    await writeRemains(store);
  }

  /** What becomes of changes that did not come to their end, and of receipts. */
  async function writeRemains({ users, posts }: MongodbStore): Promise<void> {
    const [author, other] = [user(), user()];
    await users.create(author);
    await users.create(other);
    const [once, again, joining] = [receipt(), receipt(), post()];
    await posts.create(joining);
    const dying = open(['put', 'user', 'unleave']);
    const moved = { authorId: author.id };
    await dying.posts.create(post(moved), once).catch(() => {});
    await dying.posts.create(post(moved)).catch(() => {});
    await dying.posts.update(joining.id, ({ record }) => ({ ...record, ...moved })).catch(() => {});
    await posts.create(post(moved), once);
    await dying.users.delete(other.id, 'refuse', later).catch(() => {});
    const outlived = { $set: { 'leaving.until': new Date(0) } };
    await collection('users').updateOne({ _id: other.id }, outlived);
    await users.update(other.id, ({ record }) => ({ ...record, n: 1 }));
    await users.delete(author.id, 'delete', later);

    const [swept, freed] = [user(), user()];
    await users.create(swept, receipt());
    await users.create(freed, again);
    await users.create(user(), { ...again, from: again.until, until: later });
    const expired = { $set: { 'claims.$[].expires': new Date(0) } };
    for (const name of ['users', 'posts'] as const) {
      await collection(name).updateMany({ claims: { $exists: true } }, expired);
    }
    const connection = new Connection(readUrl(database.url), undefined, (step, run) => {
      steps.add(step);
      return run();
    });
    await sweep(connection).finally(() => connection.close());

    const keys = { users: 'nameKey', posts: 'titleKey' } as const;
    const records = { users: user(), posts: post() };
    await users.create(records.users);
    await posts.create(records.posts);
    for (const name of ['users', 'posts'] as const) {
      const { id: _id } = records[name];
      await collection(name).updateOne({ _id }, {
        $unset: { [keys[name]]: true, 'record.publishedAt': true },
      } as Document);
      await migratePart(collection(name), name, [{ _id, record: records[name], size: 1 }]);
    }
  }
});

/** The kind of a change, and which fields of ours it sets and (`-`) removes, but for the keys. */
function formOf(change: ChangeStreamDocument): string {
  const { operationType, ns } = change as ChangeStreamDocument & { ns: { coll: string } };
  const { fullDocument = {}, updateDescription = {} } = change as Document;
  const { updatedFields = {}, removedFields = [] } = updateDescription;
  const paths = [
    ...Object.keys({ ...fullDocument, ...updatedFields }),
    ...removedFields.map((path: string) => (path.includes('.') ? path : `-${path}`)),
  ];
  const names = new Set(paths.map((path) => path.split('.')[0] ?? ''));
  const told = [...names].filter((name) => name !== '_id' && !name.endsWith('Key'));
  const [resource = ns.coll] = ns.coll.split('_');
  return [resource, operationType, ...told.toSorted()].join(' ');
}

function eventOf(change: ChangeStreamDocument, kind: Kind | undefined): RecordEvent[] {
  if (kind !== 'version' && kind !== 'deletion') return [];
  const { ns, documentKey, fullDocument, updateDescription } = change as Document;
  const version = fullDocument?.version ?? updateDescription?.updatedFields.version;
  const name = ns.coll === collectionNames.users ? 'users' : 'posts';
  return [{ collection: name, id: documentKey._id, version: kind === 'version' ? version : null }];
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

/** The names of all steps that change something. */
function stepsInSource(): string[] {
  const folder = join(import.meta.dirname, '../../../src/adapters/mongodb');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sources = files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
  const found = sources.flatMap((source) => [
    ...source.matchAll(/(?:\.(?:commit|prepare)\(|write\(call, )'(\w+)'/g),
  ]);
  return [...new Set(found.map(([, step]) => String(step)))].toSorted();
}

function logOf({ events }: MongodbStore): EventLog {
  if (events === undefined) throw new Error('The store has no log.');
  return events;
}
