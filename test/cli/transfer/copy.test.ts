import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { openMongodbStore } from '../../../src/adapters/mongodb/index.ts';
import { openSqliteStore } from '../../../src/adapters/sqlite/index.ts';
import { copyCommand } from '../../../src/cli/copy.ts';
import type { Store } from '../../../src/ports/store.ts';
import { blocksOf, shown } from '../../docs/markdown.ts';
import { describeOn, sharedServer } from '../../support/mongod/shared.ts';
import { temporaryDirectory } from '../../support/repository-copy.ts';
import { rostrum, start, type UnderWay } from './command.ts';
import { contentOf, fill, post, records, user } from './records.ts';
import { refusalOf } from './refusals.ts';

/** Large enough to be in the middle of it for a while. */
const given = records(300);

async function holding(open: () => Store, content = given): Promise<void> {
  const store = open();
  try {
    await fill(store, content);
  } finally {
    await store.close();
  }
}

async function held(open: () => Store) {
  const store = open();
  try {
    return await contentOf(store);
  } finally {
    await store.close();
  }
}

/** Waits until something is there of what a command writes. */
async function until(command: UnderWay, isThere: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isThere())) {
    expect(command.isOver, 'it ended too early').to.equal(false);
    await sleep(5);
  }
}

describe('rostrum copy', function () {
  this.timeout(30_000);
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let path: (name: string) => string;
  let url: (name: string) => string;
  const sqlite = (name: string) => () => openSqliteStore({ path: path(name) });

  before(async () => {
    folder = await temporaryDirectory();
    path = (name) => join(folder.path, name);
    url = (name) => `sqlite:${path(name)}`;
    await holding(sqlite('source.db'));
  });

  after(() => folder[Symbol.asyncDispose]());

  it('goes on after a kill -9 in the middle', async () => {
    const args = ['copy', '--from', url('source.db'), '--to', url('killed.db')];
    const command = start(...args);
    await until(command, () => countOf(path('killed.db')) > 100);
    command.process.kill('SIGKILL');
    expect((await command.ended).code).to.equal(null);
    const left = await held(sqlite('killed.db'));
    expect(left.posts.length).to.be.within(101, 3000);
    expect((await rostrum(...args)).code).to.equal(0);
    expect(await held(sqlite('killed.db'))).to.deep.equal(given);
  });

  it('ends at SIGINT with a sentence, and goes on when it is run again', async () => {
    const args = ['copy', '--from', url('source.db'), '--to', url('stopped.db')];
    const command = start(...args);
    await until(command, () => countOf(path('stopped.db')) > 100);
    command.process.kill('SIGINT');
    const { code, stdout, stderr } = await command.ended;
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.match(/\nInterrupted: run the same command again, .*\n$/);
    expect((await rostrum(...args)).code).to.equal(0);
    expect(await held(sqlite('stopped.db'))).to.deep.equal(given);
  });

  it('refuses a target that holds other data, and removes that with --overwrite', async () => {
    const few = { users: given.users.slice(0, 5), posts: [] };
    const more = { users: [...few.users, { record: user(9999), version: 1 }], posts: [] };
    await holding(sqlite('few.db'), few);
    await holding(sqlite('more.db'), more);
    const args = ['copy', '--from', url('few.db'), '--to', url('more.db')];
    const refused = await rostrum(...args);
    expect([refused.code, refused.stdout]).to.deep.equal([1, '']);
    expect(refused.stderr).to.match(
      /\nThe target holds 1 record .* \(the user u0009999\): .*--overwrite.*\n$/,
    );
    expect(await held(sqlite('more.db'))).to.deep.equal(more);
    expect((await rostrum(...args, '--overwrite')).code).to.equal(0);
    expect(await held(sqlite('more.db'))).to.deep.equal(few);
  });

  it('does not take a change of the target back, unless told to', async () => {
    const before = { users: given.users.slice(0, 3), posts: [] };
    const [first, ...others] = before.users;
    const changed = first && {
      record: { ...first.record, own: 'new' },
      version: first.version + 1,
    };
    const after = { users: changed ? [changed, ...others] : [], posts: [] };
    await holding(sqlite('before.db'), before);
    await holding(sqlite('after.db'), after);
    const args = ['copy', '--from', url('before.db'), '--to', url('after.db')];
    const refused = await rostrum(...args);
    expect([refused.code, refused.stdout]).to.deep.equal([1, '']);
    expect(refused.stderr).to.match(/\nThe target holds 1 record that changed since .*\n$/);
    expect(await held(sqlite('after.db'))).to.deep.equal(after);
    expect((await rostrum(...args, '--overwrite')).code).to.equal(0);
    expect(await held(sqlite('after.db'))).to.deep.equal(before);
  });

  it('says in one sentence which side is in the way', async () => {
    await using _store = sqlite('served.db')();
    const served = url('served.db');
    const cases: [RegExp, ...string[]][] = [
      [
        /^--from is "sqlite:.*served\.db": Another server has the data file .* open: stop .*$/,
        '--from',
        served,
        '--to',
        url('new.db'),
      ],
      [
        /^--to is "sqlite:.*served\.db": Another server has .*$/,
        '--from',
        url('source.db'),
        '--to',
        served,
      ],
      [
        /^--to is "sqlite:.*", the very store that --from names\.$/,
        '--from',
        served,
        '--to',
        served,
      ],
      [
        /^--from is "sqlite:.*missing\.db": there is no such file\.$/,
        '--from',
        url('missing.db'),
        '--to',
        url('new.db'),
      ],
      [/^--from is "memory:": .*$/, '--from', 'memory:', '--to', url('new.db')],
      [/^--to is missing: .*$/, '--from', url('source.db')],
      [
        /^--to is "mongodb:\/\/a:\*\*\*@h\/d.*": .*$/,
        '--from',
        url('source.db'),
        '--to',
        'mongodb://a:b@h/d?w=1',
      ],
    ];
    for (const [sentence, ...args] of cases) {
      expect(await refusalOf(copyCommand(args))).to.match(sentence);
    }
    expect(existsSync(path('missing.db'))).to.equal(false);
  });

  it('keeps others off both files, tells how far it is, and in the end what is equal', async () => {
    const command = start('copy', '--from', url('source.db'), '--to', url('told.db'));
    await until(command, () => countOf(path('told.db')) > 0);
    for (const name of ['source.db', 'told.db']) {
      expect(sqlite(name)).to.throw(/Another server has the data file/);
    }
    const { code, stdout, stderr } = await command.ended;
    // Where it takes its time, there are lines in between.
    expect(stderr.split('\n').filter((line) => /: (\d+) of \1$/.test(line))).to.deep.equal([
      'users: 300 of 300',
      'posts: 3000 of 3000',
      'checking target: 3300 of 3300',
      'checking source: 3300 of 3300',
    ]);
    const [example] = blocksOf('docs/operations.md').filter(({ text }) =>
      text.startsWith('Copied'),
    );
    expect(stdout).to.match(shown(example?.text ?? 'nothing'));
    expect(sumOf(stdout)).to.be.a('string');
    expect(code).to.equal(0);
    expect(await held(sqlite('told.db'))).to.deep.equal(given);
  });
});

await describeOn('standalone', 'rostrum copy, to MongoDB and back', () => {
  const database = `copy-${randomUUID().slice(0, 8)}`;
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let client: MongoClient;
  let mongodb: string;
  let sqlite: (name: string) => { url: string; open: () => Store };
  const posts = () => client.db(database).collection('posts');

  before(async function connect() {
    this.timeout(60_000);
    mongodb = (await sharedServer('standalone')).url(database);
    client = await new MongoClient(mongodb).connect();
    folder = await temporaryDirectory();
    sqlite = (name) => {
      const path = join(folder.path, name);
      return { url: `sqlite:${path}`, open: () => openSqliteStore({ path }) };
    };
    await holding(sqlite('there.db').open);
  });

  after(async () => {
    await client.db(database).dropDatabase();
    await client.close();
    await folder[Symbol.asyncDispose]();
  });

  it('comes back equal, interrupted on each way', async function roundTrip() {
    this.timeout(60_000);
    const [there, back] = [sqlite('there.db'), sqlite('back.db')];
    const forth = start('copy', '--from', there.url, '--to', mongodb);
    await until(forth, async () => (await posts().estimatedDocumentCount()) > 100);
    forth.process.kill('SIGKILL');
    await forth.ended;
    const first = await rostrum('copy', '--from', there.url, '--to', mongodb);
    expect(first.stdout).to.match(/300 users, 3000 posts/);

    const home = start('copy', '--from', mongodb, '--to', back.url);
    await until(home, () => countOf(join(folder.path, 'back.db')) > 100);
    home.process.kill('SIGINT');
    expect((await home.ended).stderr).to.match(/Interrupted/);
    const second = await rostrum('copy', '--from', mongodb, '--to', back.url);
    expect(sumOf(second.stdout)).to.equal(sumOf(first.stdout));
    expect(await held(back.open)).to.deep.equal(given);
  });

  it('carries over what is written to MongoDB after a copy', async () => {
    const back = sqlite('back.db');
    const store = openMongodbStore({ url: mongodb });
    try {
      await store.posts.create(post(99_999), undefined);
      await store.users.update(user(1).id, ({ record }) => ({
        ...record,
        email: 'new@example.com',
      }));
    } finally {
      await store.close();
    }
    const { code } = await rostrum('copy', '--from', mongodb, '--to', back.url);
    expect(code).to.equal(0);
    const { users, posts: found } = await held(back.open);
    expect(found.at(-1)).to.deep.equal({ record: post(99_999), version: 1 });
    expect(users[1]?.record.email).to.equal('new@example.com');
  });
});

/** The posts in a data file, as a reader beside its writer sees them. */
function countOf(path: string): number {
  if (!existsSync(path)) return 0;
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return Number(database.prepare('SELECT count(*) AS count FROM posts').get()?.count);
  } catch {
    return 0; // Not made yet.
  } finally {
    database.close();
  }
}

function sumOf(stdout: string): string | undefined {
  return /sha256 ([0-9a-f]{64})/.exec(stdout)?.[1];
}
