import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { openSqliteStore } from '../../src/adapters/sqlite/index.ts';
import { systemClock } from '../../src/adapters/system/index.ts';
import { copyCommand } from '../../src/cli/copy.ts';
import type { Store } from '../../src/ports/store.ts';
import { blocksOf, shown } from '../docs/markdown.ts';
import { describeOnMongodb, sharedServer } from '../support/mongod/shared.ts';
import { type Child, outcomeOf } from '../support/process.ts';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { rostrum, startCommand, startServer } from '../support/server.ts';
import { failureOf } from './failure.ts';
import { contentOf, fill, post, records, user } from './transfer/records.ts';

/** Large enough to interrupt the copy halfway, even on a fast machine. */
const given = records(1000);

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

/** Starts a copy, and waits until it has written something. */
async function copying(from: string, to: string, hasBegun: () => Promise<boolean> | boolean) {
  const child = startCommand(['copy', '--from', from, '--to', to]);
  const ended = outcomeOf(child);
  while (!(await hasBegun())) {
    expect(hasExited(child), 'the copy ended too early').to.equal(false);
    await sleep(5);
  }
  return { child, ended };
}

function hasExited({ exitCode, signalCode }: Child): boolean {
  return exitCode !== null || signalCode !== null;
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

  for (const [signal, left] of [
    ['SIGKILL', ''],
    ['SIGINT', 'Interrupted: run the same command again to copy the rest.'],
  ] as const) {
    it(`completes when it is run again after ${signal}`, async () => {
      const target = `${signal}.db`;
      const hasBegun = () => countOf(path(target)) > 100;
      const { child, ended } = await copying(url('source.db'), url(target), hasBegun);
      child.kill(signal);
      const { code, stdout, stderr } = await ended;
      expect([code, stdout]).to.deep.equal([signal === 'SIGINT' ? 1 : null, '']);
      expect(stderr.trimEnd().split('\n').at(-1)).to.contain(left);
      expect((await held(sqlite(target))).posts.length).to.be.within(101, 9999);
      if (signal === 'SIGKILL') await refuseHalf(target);
      const again = await rostrum('copy', '--from', url('source.db'), '--to', url(target));
      expect(again.code, again.stderr).to.equal(0);
      expect(await held(sqlite(target))).to.deep.equal(given);
      await using server = await startServer('--store', url(target));
      const response = await fetch(`${server.address}/api/v1/posts/${post(0).id}`);
      expect(response.status).to.equal(200);
    });
  }

  /** Checks that all other commands reject the target of an unfinished copy, and leave it unchanged. */
  async function refuseHalf(target: string) {
    const before = await held(sqlite(target));
    const [store, file] = [`sqlite:${path(target)}`, path('one.jsonl')];
    writeFileSync(file, '{"user":{"name":"A"}}\n');
    const commands = [
      ['serve', '--port', '0', '--store', store],
      ['import', file, '--store', store],
      ['import', file, '--dry-run', '--store', store],
      ['seed', '--store', store],
      ['export', path('half.jsonl'), '--store', store],
      ['copy', '--from', store, '--to', url('half.db')],
    ];
    const refuse = async (command: string[]) => {
      const { code, stderr } = await rostrum(...command);
      expect(code, command[0]).to.equal(1);
      expect(stderr).to.contain(
        `is "${store}": This store is the target of an unfinished copy. Run the same copy again to finish it.\n`,
      );
    };
    await Promise.all(commands.map(refuse));
    expect(await held(sqlite(target))).to.deep.equal(before);
  }

  it('copies deleted ids, so that a record created again continues its versions', async () => {
    const few = { users: given.users.slice(0, 5), posts: [] };
    await holding(sqlite('deleting.db'), few);
    await using source = sqlite('deleting.db')();
    await source.users.delete(user(4).id, 'keep', systemClock.now());
    expect(
      (await rostrum('copy', '--from', url('deleting.db'), '--to', url('kept.db'))).code,
    ).to.equal(0);
    await using store = sqlite('kept.db')();
    const last = (await source.users.lastVersion(user(4).id)) ?? 0;
    expect(last).to.be.at.least(5);
    expect((await store.users.create(user(4))).version).to.equal(last + 1);
  });

  it('rejects a target with other records, and removes them with --overwrite', async () => {
    const few = { users: given.users.slice(0, 5), posts: [] };
    await holding(sqlite('few.db'), few);
    await holding(sqlite('more.db'), { users: [{ record: user(9999), version: 1 }], posts: [] });
    const args = ['copy', '--from', url('few.db'), '--to', url('more.db')];
    const refused = await rostrum(...args);
    expect([refused.code, refused.stdout]).to.deep.equal([1, '']);
    expect(refused.stderr).to.match(/^The target has records .*, such as the user u0009999: .*\n$/);
    expect((await rostrum(...args, '--overwrite')).code).to.equal(0);
    expect(await held(sqlite('more.db'))).to.deep.equal(few);
  });

  it('names the store that it cannot read or write in one sentence', async () => {
    const served = url('served.db');
    const [source, fresh] = [url('source.db'), url('new.db')];
    const cases: [RegExp, from: string, to: string][] = [
      [/^--to is "sqlite:.*", the same store as --from\.$/, served, served],
      [/^--from is "sqlite:.*missing\.db": there is no such file\.$/, url('missing.db'), fresh],
      [/^--from is "memory:": /, 'memory:', fresh],
      [/^--to is "mongodb:\/\/a:\*\*\*@h\/d.*": /, source, 'mongodb://a:b@h/d?unknown=1'],
    ];
    for (const [sentence, from, to] of cases) {
      expect(await failureOf(copyCommand({ from, to }))).to.match(sentence);
    }
    expect(existsSync(path('missing.db'))).to.equal(false);
  });

  it('copies while other processes use both files', async () => {
    const hasBegun = () => countOf(path('told.db')) > 0;
    const { ended } = await copying(url('source.db'), url('told.db'), hasBegun);
    // As a server that has both files open.
    for (const name of ['source.db', 'told.db']) await sqlite(name)().close();
    const { code, stdout, stderr } = await ended;
    // There is no progress in the first ten seconds.
    expect(stderr).to.equal('');
    const [example] = blocksOf('docs/operations.md').filter(({ text }) =>
      text.startsWith('Copied'),
    );
    expect(stdout).to.match(shown(example?.text ?? 'nothing'));
    expect(code).to.equal(0);
    expect(await held(sqlite('told.db'))).to.deep.equal(given);
  });
});

await describeOnMongodb('rostrum copy, to MongoDB and back', () => {
  it('copies a store and its declared fields to another kind of store and back', async function roundTrip() {
    this.timeout(60_000);
    const mongodb = (await sharedServer()).url(`copy-${randomUUID().slice(0, 8)}`);
    await using folder = await temporaryDirectory();
    const [there, back] = [join(folder.path, 'there.db'), join(folder.path, 'back.db')];
    const declaredFields = { users: { age: 'number' }, posts: { tags: 'text[]' } } as const;
    await holding(() => openSqliteStore({ path: there, declaredFields }), records(30));
    const first = await rostrum('copy', '--from', `sqlite:${there}`, '--to', mongodb);
    expect(first.stdout, first.stderr).to.match(/30 users and 300 posts/);
    const second = await rostrum('copy', '--from', mongodb, '--to', `sqlite:${back}`);
    expect(second.stdout, second.stderr).to.match(/30 users and 300 posts/);
    expect(await held(() => openSqliteStore({ path: back }))).to.deep.equal(records(30));
    await using copied = openSqliteStore({ path: back });
    expect(copied.declaredFields).to.deep.equal(declaredFields);
    await using client = await new MongoClient(mongodb).connect();
    await client.db().dropDatabase();
  });
});

/** Counts the posts in a data file while another process writes to it. */
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
