import { expect } from 'chai';
import { openMongodbStore } from '../../../src/adapters/mongodb/index.ts';
import { findMongod } from '../../support/mongod/binary.ts';
import { startReplicaSet } from '../../support/mongod/servers.ts';
import { untilServed } from '../../support/until.ts';
import { keepLog } from '../http/support/log.ts';

describe('a replica set with an arbiter', function () {
  this.timeout(60_000);

  it('logs a warning when the store opens', async function () {
    const binary = await findMongod();
    if (binary === undefined) this.skip();
    await using set = await startReplicaSet(binary, 3, true);
    const { logger, lines } = keepLog();
    await using store = openMongodbStore({ url: set.url('rostrum'), logger });
    await untilServed(() => store.ready());
    const [warning] = lines.filter(({ level }) => level === 'warn');
    expect(warning?.message).to.match(/has an arbiter/);
  });
});
