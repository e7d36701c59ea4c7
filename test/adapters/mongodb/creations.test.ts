import { expect } from 'chai';
import { type ClientSession, type Document, MongoClient, ObjectId } from 'mongodb';
import { Connection } from '../../../src/adapters/mongodb/connection/connection.ts';
import { readUrl } from '../../../src/adapters/mongodb/connection/connection-string.ts';
import { CreationBatcher } from '../../../src/adapters/mongodb/creation-batcher.ts';
import {
  MongodbPostRepository,
  MongodbUserRepository,
} from '../../../src/adapters/mongodb/repository.ts';
import { isRostrumError } from '../../../src/domain/errors.ts';
import type { Post } from '../../../src/domain/records/post.ts';
import { safeLogger } from '../../../src/ports/logger.ts';
import { at, newReceipt, post, times, user } from '../../../src/testing/fixtures.ts';
import { OutageProxy } from '../../support/mongod/outage-proxy.ts';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { until, untilServed } from '../../support/until.ts';
import { useDatabase } from './store-on.ts';

const declaredFields = { posts: { slug: { type: 'text', unique: true } } } as const;

await describeOnMongodb('creations on MongoDB', () => {
  const database = useDatabase();
  let connection: Connection;
  let users: MongodbUserRepository;
  let posts: MongodbPostRepository;
  /** The commands that the store sent. */
  let commands: Document[];
  /** Another client, which starts conflicting transactions. */
  let other: MongoClient;
  let session: ClientSession;

  before(async () => {
    other = await new MongoClient(database.url).connect();
  });
  after(() => other.close());

  beforeEach(async () => {
    const { url } = database;
    const db = readUrl(`${url}${url.includes('?') ? '&' : '?'}monitorCommands=true`);
    connection = new Connection(db, safeLogger(undefined), declaredFields);
    const creations = new CreationBatcher(connection);
    users = new MongodbUserRepository(connection, 'users', creations);
    posts = new MongodbPostRepository(connection, 'posts', creations);
    await until(
      () =>
        connection.ready().then(
          () => true,
          () => false,
        ),
      'the connection is ready',
      30_000,
    );
    await database.clear();
    commands = [];
    db.client.on('commandStarted', ({ command }) => commands.push(command));
    session = other.startSession();
  });
  afterEach(async () => {
    await session.endSession();
    await connection.close();
  });

  const names = () => commands.map((command) => Object.keys(command)[0]);

  /** Starts a transaction that writes to a user, like a deletion. */
  async function hold(id: string): Promise<void> {
    session.startTransaction();
    const touch = { $set: { authorLock: new ObjectId() } };
    await other
      .db()
      .collection<{ _id: string }>('users')
      .updateOne({ _id: id }, touch, { session });
  }

  async function makeUsers(count: number): Promise<string[]> {
    const records = times(count, () => user());
    await Promise.all(records.map((record) => users.create(record)));
    commands = [];
    return records.map(({ id }) => id);
  }

  it('share one transaction within a tick, with a single update of their authors', async () => {
    const authors = await makeUsers(3);
    const hints = { isNewId: true };
    await Promise.all(
      times(20, (n) => posts.create(post({ authorId: authors[n % 3] }), undefined, hints)),
    );
    expect(names()).to.deep.equal(['insert', 'update', 'commitTransaction']);
    const [insert, update] = commands;
    expect(insert?.documents).to.have.lengthOf(20);
    expect(update?.updates).to.have.lengthOf(1);
    expect(update?.updates[0].q._id.$in).to.have.members(authors);
  });

  it('are split into transactions that are full at 200 records, or once they exceed 1 Mi characters', async () => {
    const body = 'x'.repeat(300_000);
    await Promise.all(times(10, () => posts.create(post({ body }))));
    await Promise.all(times(450, () => posts.create(post())));
    const sizes = commands.flatMap(({ insert, documents }) => (insert ? [documents.length] : []));
    expect(sizes).to.have.members([4, 4, 2, 200, 200, 50]);
  });

  it('wait for a running creation with the same author, to avoid a conflict', async () => {
    const [author] = await makeUsers(1);
    const first = posts.create(post({ authorId: author }));
    await until(() => names().includes('insert'), 'the first is in progress');
    await Promise.all([first, ...times(5, () => posts.create(post({ authorId: author })))]);
    expect(commands.filter(({ update }) => update === 'users')).to.have.lengthOf(2);
    expect(names().filter((name) => name === 'abortTransaction')).to.deep.equal([]);
  });

  it('fail individually, each with its own error, while the others succeed', async () => {
    const [author] = await makeUsers(1);
    const [once, taken] = [newReceipt(), user()];
    const replayed = (await posts.create(post(), once)).record;
    const gone = post();
    await posts.create(gone);
    await posts.delete(gone.id);
    await users.create(taken);
    const created = times(3, () => post({ authorId: author }));
    const calls: Record<string, Promise<unknown>> = {
      ...Object.fromEntries(created.map((record, n) => [`created ${n}`, posts.create(record)])),
      'id-taken': posts.create(replayed),
      'email-taken': users.create(user({ email: taken.email })),
      'invalid-record': posts.create(post({ authorId: 'none' })),
      'idempotency-key-reused': posts.create(post(), { ...once, fingerprint: 'other' }),
      replayed: posts.create(post(), once),
      again: posts.create(gone),
    };
    const results = await Promise.allSettled(Object.values(calls));
    const outcomes = results.map((result) => {
      if (result.status === 'rejected') {
        return isRostrumError(result.reason) ? result.reason.code : result.reason;
      }
      const { replayed, version } = result.value as { replayed: boolean; version: number };
      return replayed ? 'replayed' : version;
    });
    expect(outcomes).to.deep.equal([
      ...[1, 1, 1, 'id-taken', 'email-taken', 'invalid-record', 'idempotency-key-reused'],
      ...['replayed', 2],
    ]);
    for (const record of created)
      expect((await posts.get(record.id))?.record).to.deep.equal(record);
  });

  it('find all taken values with one command after the first, and insert the others together', async () => {
    const hints = { isNewId: true };
    const create = (slug: string) => posts.create(post({ slug }), undefined, hints);
    await Promise.all(times(20, (n) => create(`taken ${n}`)));
    commands = [];
    const results = await Promise.allSettled([
      ...times(20, (n) => create(`taken ${n}`)),
      ...times(20, (n) => create(`free ${n}`)),
    ]);
    const errors = results.slice(0, 20).map((one) => one.status === 'rejected' && one.reason);
    for (const error of errors) expect(isRostrumError(error, 'field-taken')).to.equal(true);
    expect(results.slice(20).every(({ status }) => status === 'fulfilled')).to.equal(true);
    const expected = ['insert', 'abortTransaction', 'find', 'insert', 'commitTransaction'];
    expect(names()).to.have.members(expected);
    expect(commands.at(-2)?.documents).to.have.lengthOf(20);
  });

  it('of one new value within a tick are checked again, and only the first is inserted', async () => {
    const same = times(20, () => posts.create(post({ slug: 'same' })));
    const other = posts.create(post({ slug: 'other' }));
    const results = await Promise.allSettled([...same, other]);
    const made = results.map(({ status }) => status === 'fulfilled');
    expect(made).to.deep.equal([true, ...times(19, () => false), true]);
    expect(names().filter((name) => name === 'insert')).to.have.lengthOf(1);
  });

  it('with 200 known idempotency keys are replayed with a few commands', async () => {
    const receipts = times(200, () => newReceipt());
    await Promise.all(receipts.map((one) => posts.create(post(), one)));
    commands = [];
    const again = await Promise.all(receipts.map((one) => posts.create(post(), one)));
    expect(again.every(({ replayed }) => replayed)).to.equal(true);
    expect(commands).to.have.length.below(20);
  });

  it('are retried together while another transaction conflicts', async () => {
    const [author = ''] = await makeUsers(1);
    await hold(author);
    const all = times(5, () => post({ authorId: author }));
    const calls = Promise.all(all.map((record) => posts.create(record)));
    await until(
      () => names().filter((name) => name === 'insert').length > 4,
      'the transaction is retried',
    );
    await session.abortTransaction();
    await calls;
    for (const { insert, documents } of commands) {
      if (insert === 'posts') expect(documents).to.have.lengthOf(5);
    }
  });

  it('do not wait for conflicting posts of other authors, which are retried together', async () => {
    const [held = '', ...free] = await makeUsers(4);
    await hold(held);
    const ofHeld = times(6, () => post({ authorId: held }));
    const others = [...free, ...free, null, null].map((authorId) => post({ authorId }));
    const waiting = ofHeld.map((record) => posts.create(record));
    await Promise.all(others.map((record) => posts.create(record)));
    await Promise.all(free.map((authorId) => posts.create(post({ authorId }))));
    expect(await posts.get(ofHeld[0]?.id ?? '')).to.equal(undefined);
    await session.abortTransaction();
    await Promise.all(waiting);
    const sizes = commands
      .filter(({ insert }) => insert === 'posts')
      .map(({ documents }) => documents.filter((one: Post) => one.authorId === held).length);
    expect(new Set(sizes)).to.deep.equal(new Set([6, 0]));
  });

  it('that repeat one of a conflicting author do not keep others waiting', async () => {
    const [held = '', free = ''] = await makeUsers(2);
    await hold(held);
    const receipt = newReceipt();
    const record = post({ authorId: held });
    const waiting = [posts.create(record, receipt), posts.create(record, receipt)];
    await posts.create(post({ authorId: free }));
    await posts.create(post({ authorId: free }));
    await session.abortTransaction();
    const both = await Promise.all(waiting);
    expect(both.map(({ replayed }) => replayed).sort()).to.deep.equal([false, true]);
  });

  it('store receipts that MongoDB removes after they expire', async function () {
    this.timeout(20_000);
    const once = newReceipt();
    await users.create(user(), once);
    const receipts = database.db.collection('receipts');
    const [stored] = await receipts.find().toArray();
    const lifetime = Date.parse(once.until) - Date.parse(once.from);
    expect(stored?.expires.getTime() - Date.now()).to.be.within(lifetime, lifetime + 3_700_000);
    await receipts.updateMany({}, { $set: { expires: new Date(0) } });
    await until(
      async () => (await receipts.countDocuments({}, { readConcern: 'majority' })) === 0,
      'the receipt is removed',
      15_000,
    );
    expect(await users.create(user(), { ...once, from: at(1) })).to.include({ replayed: false });
  });

  it('are not repeated if the replies to their commit are lost', async function () {
    this.timeout(30_000);
    const [author] = await makeUsers(1);
    await using proxy = await OutageProxy.start(Number(new URL(database.url).port));
    const direct = `mongodb://127.0.0.1:${proxy.port}/${database.db.databaseName}?directConnection=true`;
    const db = readUrl(`${direct}&monitorCommands=true`);
    const behind = new Connection(db, safeLogger(undefined), {});
    const others = new MongodbPostRepository(behind, 'posts', new CreationBatcher(behind));
    try {
      await untilServed(() => behind.ready());
      // Of two authors, so that the group can be split.
      const group = [post({ authorId: author }), post()];
      const created = database.db.collection<{ _id: string }>('posts');
      const ids = { _id: { $in: group.map(({ id }) => id) } };
      let commits = 0;
      db.client.on('commandStarted', async ({ commandName }) => {
        if (commandName !== 'commitTransaction') return;
        commits += 1;
        proxy.begin('half-open');
        await until(async () => (await created.countDocuments(ids)) === 2, 'they are committed');
        proxy.end();
      });
      const results = await Promise.allSettled(group.map((record) => others.create(record)));
      const errors = results.map((result) => result.status === 'rejected' && result.reason);
      expect(errors.map((error) => error.details)).to.deep.equal(
        Array(2).fill({ outcome: 'unknown' }),
      );
      expect(commits).to.be.above(1);
    } finally {
      await behind.close();
    }
  });
});
