// Lets 20 clients race for three records many times, and checks that some order of their requests explains the
// responses for each record. Detects lost updates, stale reads and duplicate creations. At the end, checks that
// it finds the fault of a store that loses updates on purpose.
//
//   node test/faults/linearizability.ts [--histories 1000] [--only mongodb]

import { parseArgs } from 'node:util';
import { createApp, serve } from '../../src/adapters/http/index.ts';
import { createRostrum } from '../../src/index.ts';
import { Racers, usual } from '../linearizability/history.ts';
import { findMongod } from '../support/mongod/binary.ts';
import { startReplicaSet } from '../support/mongod/servers.ts';
import { startServer } from '../support/server.ts';
import { openFaulty } from '../testing/faults.ts';

const { values } = parseArgs({
  options: { histories: { type: 'string', default: '1000' }, only: { type: 'string' } },
});
const histories = Number(values.histories);

/** Returns the first record whose history is not linearizable. */
async function race(name: string, addresses: readonly string[]): Promise<string | undefined> {
  using racers = new Racers(addresses);
  const start = performance.now();
  let [done, wrong]: [number, string | undefined] = [0, undefined];
  for (; done < histories && wrong === undefined; done++) wrong = await racers.race(usual);
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  const counts = Object.entries(racers.counts).map(([what, count]) => `${count} ${what}`);
  const verdict = wrong === undefined ? 'linearizable' : 'NOT LINEARIZABLE';
  console.log(`${name}: ${done} histories ${verdict}, ${counts.join(', ')}, ${seconds} s`);
  return wrong;
}

const subjects: Record<string, () => Promise<string | undefined>> = {
  async mongodb() {
    const binary = await findMongod();
    if (binary === undefined) return 'There is no MongoDB server to test on.';
    await using set = await startReplicaSet(binary, 1);
    const store = ['--store', set.url('linearizability')];
    await using one = await startServer(...store);
    await using other = await startServer(...store);
    return await race('MongoDB, two servers', [one.address, other.address]);
  },

  async 'a lost update'() {
    const store = openFaulty();
    const app = createApp(createRostrum(store), { ready: () => store.ready() });
    const server = await serve(app, { port: 0 });
    const wrong = await race('a store that loses updates', [server.url]);
    await server.close();
    return wrong === undefined ? 'The check did not find lost updates.' : undefined;
  },
};

for (const [name, run] of Object.entries(subjects)) {
  if (values.only !== undefined && values.only !== name) continue;
  const fault = await run();
  if (fault === undefined) continue;
  console.log(fault);
  process.exitCode = 1;
}
