import { expect } from 'chai';
import { Connection } from '../../../src/adapters/mongodb/connection/connection.ts';
import { readUrl } from '../../../src/adapters/mongodb/connection/connection-string.ts';
import { safeLogger } from '../../../src/ports/logger.ts';
import { times } from '../../../src/testing/fixtures.ts';
import { errorOf } from '../../support/error-of.ts';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { untilServed } from '../../support/until.ts';
import { useDatabase } from './store-on.ts';

await describeOnMongodb('a connection to MongoDB', () => {
  const database = useDatabase();
  const urlWith = (option: string) =>
    `${database.url}${database.url.includes('?') ? '&' : '?'}${option}`;

  it('is ready while slow calls wait for all its sockets', async function () {
    this.timeout(60_000);
    const db = readUrl(urlWith('maxPoolSize=1'));
    const connection = new Connection(db, safeLogger(undefined), {});
    await untilServed(() => connection.ready(), 50_000);
    await database.db.collection('users').insertOne({});
    const controller = new AbortController();
    // Together they take longer than `ready` waits.
    const calls = times(20, () =>
      connection.call(
        (call) =>
          call.read(({ signal }) =>
            db.collection('users').findOne({ $where: 'sleep(300) || true' }, { signal }),
          ),
        controller.signal,
      ),
    );
    const ended = Promise.allSettled(calls);
    try {
      await connection.ready();
    } finally {
      controller.abort();
      await ended;
      await connection.close();
    }
  });

  it('names the package that an option needs', async () => {
    const db = readUrl(urlWith('compressors=snappy'));
    const connection = new Connection(db, safeLogger(undefined), {});
    try {
      const { cause } = (await errorOf(connection.ready())) as Error;
      expect(cause).to.include({
        code: 'store-unusable',
        message:
          'The connection string needs the package snappy, which is not installed: run `npm i snappy`.',
      });
    } finally {
      await connection.close();
    }
  });
});

describe('a connection to a MongoDB server that does not exist', () => {
  it('says after its first failure why it is not ready, so that commands end', async () => {
    const connection = new Connection(
      readUrl('mongodb://127.0.0.1:1/x'),
      safeLogger(undefined),
      {},
    );
    try {
      await errorOf(connection.ready());
      const { cause } = (await errorOf(connection.ready())) as Error;
      expect(String(cause)).to.contain('ECONNREFUSED');
    } finally {
      await connection.close();
    }
  });
});
