import { expect } from 'chai';
import { openMongodbStore } from '../../../src/adapters/mongodb/index.ts';
import { limits } from '../../../src/adapters/mongodb/limits.ts';
import { isRostrumError } from '../../../src/domain/errors.ts';
import { user } from '../../../src/testing/fixtures.ts';
import { errorOf } from '../../support/error-of.ts';
import { freePort } from '../../support/free-port.ts';
import { findMongod } from '../../support/mongod/binary.ts';
import { kill, primaryOf } from '../../support/mongod/primary.ts';
import { startReplicaSet } from '../../support/mongod/servers.ts';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { node } from '../../support/process.ts';
import { repository } from '../../support/repository-copy.ts';
import { untilServed } from '../../support/until.ts';

/** An election takes 2 s, or longer on a busy machine. */
const servedMs = 15_000;

await describeOnMongodb('a MongoDB store without its server', () => {
  it('is unavailable until the server starts, and again while it is down', async function () {
    this.timeout(90_000);
    await using set = await startReplicaSet((await findMongod()) ?? '', 1);
    const start = await kill(await primaryOf(set.nodes));
    await using store = openMongodbStore({ url: set.url('outage') });
    await Promise.all([unavailable(store.ready()), unavailable(store.users.get('x'))]);

    await start();
    await untilServed(() => store.ready(), servedMs);
    const ada = user();
    await store.users.create(ada);

    const again = await kill(await primaryOf(set.nodes));
    const from = Date.now();
    await Promise.all([
      unavailable(store.ready()),
      unavailable(store.users.get(ada.id)),
      unavailable(store.users.create(user())),
      unavailable(store.users.update(ada.id, ({ record }) => ({ ...record, name: 'Bob' }))),
    ]);
    expect(Date.now() - from).to.be.below(limits.callMs + 2000);

    await again();
    await untilServed(() => store.ready(), servedMs);
    expect((await store.users.get(ada.id))?.record).to.deep.equal(ada);
  });

  it('closes quickly if it never connected, and then rejects every call', async () => {
    const store = openMongodbStore({ url: `mongodb://127.0.0.1:${await freePort()}` });
    const from = Date.now();
    await store.close();
    expect(Date.now() - from).to.be.below(limits.driverCloseMs);
    await unavailable(store.users.get('x'));
    await unavailable(store.ready());
    await store.close();
  });

  it('lets pending calls wait for the server for a limited time when it closes', async () => {
    const store = openMongodbStore({ url: `mongodb://127.0.0.1:${await freePort()}` });
    const waiting = unavailable(store.users.get('x'));
    const from = Date.now();
    await store.close();
    expect(Date.now() - from).to.be.below(limits.openingMs + 2000);
    await waiting;
  });

  it('lets the process exit after close, without uncaught errors', async () => {
    const { code, output } = await node(
      [
        '--input-type=module-typescript',
        '--eval',
        `import { openMongodbStore } from './src/adapters/mongodb/index.ts';
        const never = openMongodbStore({ url: 'mongodb://127.0.0.1:${await freePort()}' });
        setTimeout(() => never.close(), 300);`,
      ],
      { cwd: repository },
    );
    expect({ code, output }).to.deep.equal({ code: 0, output: '' });
  });
});

/** Expects a call to fail as unavailable, without a change. */
async function unavailable(call: Promise<unknown>): Promise<void> {
  const error = await errorOf(call);
  if (!isRostrumError(error, 'store-unavailable')) {
    throw new Error('The call succeeded.', { cause: error });
  }
  expect(error.details.outcome).to.equal('none');
}
