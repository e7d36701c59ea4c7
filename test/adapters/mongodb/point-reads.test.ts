import { once } from 'node:events';
import { expect } from 'chai';
import type { Document, MongoClient } from 'mongodb';
import { Connection } from '../../../src/adapters/mongodb/connection/connection.ts';
import { readUrl } from '../../../src/adapters/mongodb/connection/connection-string.ts';
import { CreationBatcher } from '../../../src/adapters/mongodb/creation-batcher.ts';
import { MongodbPostRepository } from '../../../src/adapters/mongodb/repository.ts';
import { safeLogger } from '../../../src/ports/logger.ts';
import { post, times } from '../../../src/testing/fixtures.ts';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

await describeOnMongodb('reads of single records on MongoDB', () => {
  const database = useDatabase();
  let connection: Connection;
  let client: MongoClient;
  let posts: MongodbPostRepository;
  /** The ids in each find command. */
  let asked: string[][];
  const small = times(100, (n) => post({ id: `p${n}` }));
  const large = times(20, (n) => post({ id: `large${n}`, body: 'x'.repeat(1_000_000) }));

  before(async () => {
    const { transfer } = database.open();
    for (const part of [small, ...large.map((one) => [one])]) {
      await transfer.posts.load(part.map((record) => ({ record, version: 1, json: '' })));
    }
  });

  beforeEach(async () => {
    const { url } = database;
    const db = readUrl(`${url}${url.includes('?') ? '&' : '?'}monitorCommands=true`);
    client = db.client;
    connection = new Connection(db, safeLogger(undefined), {});
    posts = new MongodbPostRepository(connection, 'posts', new CreationBatcher(connection));
    await posts.get('none');
    asked = [];
    client.on('commandStarted', ({ command }: { command: Document }) => {
      if (command.find !== 'posts') return;
      const { _id } = command.filter;
      asked.push(typeof _id === 'string' ? [_id] : _id.$in);
    });
  });
  afterEach(() => connection.close());

  it('share a command within a tick, and each returns its own record', async () => {
    const ids = [...small.map(({ id }) => id), 'p3', 'none', 'p3'];
    const found = await Promise.all(ids.map((id) => posts.get(id)));
    expect(found.map((one) => one?.record.id)).to.deep.equal(
      ids.map((id) => (id === 'none' ? undefined : id)),
    );
    expect(asked.map((some) => some.length)).to.have.members([64, 37]);
  });

  it('are made once for each change of one record, because changes wait for each other', async () => {
    const change = (n: number) => posts.update('p9', ({ record }) => ({ ...record, n }));
    await Promise.all(times(20, change));
    expect(asked).to.deep.equal(times(20, () => ['p9']));
    expect((await posts.get('p9'))?.version).to.equal(21);
  });

  it('do not join a running command, which might miss later changes', async () => {
    const before = posts.get('p1');
    await once(client, 'commandStarted');
    await Promise.all([before, posts.get('p1')]);
    expect(asked).to.deep.equal([['p1'], ['p1']]);
  });

  it('return large records one after another, so that other work runs between them', async () => {
    let iterations = 0;
    let isOver = false;
    const iterate = () => {
      iterations += 1;
      if (!isOver) setImmediate(iterate);
    };
    iterate();
    const seen: number[] = [];
    const found = await Promise.all(
      large.map(async ({ id }) => {
        const read = await posts.get(id);
        seen.push(iterations);
        return read?.record;
      }),
    );
    isOver = true;
    expect(found).to.deep.equal(large);
    expect(new Set(seen)).to.have.property('size', large.length);
  });

  it('return every record even if they exceed a reply of 16 MB together', async () => {
    const ids = ['p1', ...large.map(({ id }) => id), 'none', 'p2'];
    const found = await Promise.all(ids.map((id) => posts.get(id)));
    expect(found.map((one) => one?.record.id)).to.deep.equal(
      ids.map((id) => (id === 'none' ? undefined : id)),
    );
  });

  it('all fail if their shared command fails', async () => {
    await client.close();
    const found = await Promise.allSettled(['p1', 'p2', 'p1'].map((id) => posts.get(id)));
    expect(found.map(({ status }) => status)).to.deep.equal(times(3, () => 'rejected'));
  });
});
