import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { limits } from '../../../src/adapters/mongodb/connection/limits.ts';
import { openMongodbStore } from '../../../src/adapters/mongodb/index.ts';
import { isRostrumError } from '../../../src/domain/errors.ts';
import { user } from '../../../src/testing/fixtures.ts';
import { errorOf } from '../../support/error-of.ts';
import { freePort } from '../../support/free-port.ts';
import { findMongod } from '../../support/mongod/binary.ts';
import { startStandalone } from '../../support/mongod/servers.ts';
import { describeOn } from '../../support/mongod/shared.ts';
import { node } from '../../support/process.ts';
import { repository } from '../../support/repository-copy.ts';
import { untilServed } from '../../support/until.ts';

/** It takes 3 s at most, and a busy machine some more. */
const servedMs = 5000;

await describeOn('standalone', 'A MongoDB store without its server', () => {
  it('waits for it, serves when it comes, and again when it comes back', async function () {
    this.timeout(60_000);
    const binary = (await findMongod()) ?? '';
    const [port, dbPath] = [await freePort(), await mkdtemp(join(tmpdir(), 'rostrum-'))];
    const store = openMongodbStore({ url: `mongodb://127.0.0.1:${port}` });
    try {
      await Promise.all([unavailable(store.ready()), unavailable(store.users.get('x'), 'none')]);

      const first = await startStandalone(binary, { port, dbPath });
      await untilServed(() => store.ready(), servedMs);
      const ada = user();
      await store.users.create(ada);

      const [mongod] = first.processes;
      mongod?.kill('SIGKILL');
      if (mongod) await once(mongod, 'exit');
      const from = Date.now();
      await Promise.all([
        unavailable(store.ready()),
        unavailable(store.users.get(ada.id), 'none'),
        unavailable(store.users.create(user())),
      ]);
      expect(Date.now() - from).to.be.below(10_000);

      await using _second = await startStandalone(binary, { port, dbPath });
      await untilServed(() => store.ready(), servedMs);
      expect((await store.users.get(ada.id))?.record).to.deep.equal(ada);
      await first[Symbol.asyncDispose]();
    } finally {
      await store.close();
      await rm(dbPath, { recursive: true, force: true });
    }
  });

  it('is closed fast when it was never connected, and then refuses every call', async () => {
    const store = openMongodbStore({ url: `mongodb://127.0.0.1:${await freePort()}` });
    const from = Date.now();
    await store.close();
    expect(Date.now() - from).to.be.below(limits.goodbyeMs);
    await unavailable(store.users.get('x'), 'none');
    await unavailable(store.ready(), 'none');
    await store.close();
  });

  it('lets a call that was made before it is closed wait for the server, but not for long', async () => {
    const store = openMongodbStore({ url: `mongodb://127.0.0.1:${await freePort()}` });
    const waiting = unavailable(store.users.get('x'), 'none');
    const from = Date.now();
    await store.close();
    expect(Date.now() - from).to.be.below(limits.openingMs + 2000);
    await waiting;
  });

  it('lets the process end when it is closed, and raises nothing uncaught', async () => {
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

async function unavailable(call: Promise<unknown>, outcome?: 'none' | 'unknown'): Promise<void> {
  const error = await errorOf(call);
  if (!isRostrumError(error, 'store-unavailable'))
    throw new Error('It was served.', { cause: error });
  if (outcome !== undefined) expect(error.details.outcome).to.equal(outcome);
}
