import { openMongodbStore } from '../../src/adapters/mongodb/index.ts';
import type { Store } from '../../src/index.ts';
import { useDatabase } from '../adapters/mongodb/store-on.ts';
import { codes, driverFault, stepped } from '../adapters/sqlite/support/faults.ts';
import { Folder } from '../adapters/sqlite/support/folder.ts';
import { describeOnMongodb } from '../support/mongod/shared.ts';
import { FailingProxy } from './failing-mongodb.ts';
import { Faults, type Side } from './faults.ts';

/** A store with injected faults. */
export interface Subject {
  readonly sides: readonly Side[];
  /** Whether each call takes seconds if the store fails until a restart. */
  readonly isSlow?: boolean;
  /** Opens the store, or reopens it on the same data. */
  readonly open: () => Store | Promise<Store>;
  /** Lets late steps take effect. */
  readonly release?: () => Promise<void>;
}

/** Runs the tests of `body` on every store with fault injection. */
export async function describeOnEach(
  title: string,
  body: (subject: Subject, faults: Faults) => void,
): Promise<void> {
  const on = (makeSubject: (faults: Faults) => Subject) => () => {
    const faults = new Faults();
    body(makeSubject(faults), faults);
  };
  describe(`${title}: SQLite`, on(sqlite));
  await describeOnMongodb(`${title}: MongoDB`, on(mongodb));
}

/** Every driver call is a step. */
function sqlite(faults: Faults): Subject {
  const folder = new Folder();
  const file = folder.file();
  const database = stepped((sql, run) => {
    const side = faults.next(sql);
    if (side === 'before') throw driverFault(codes.fsync);
    const result = run();
    if (side === 'after') throw driverFault(codes.fsync);
    return result;
  });
  return { sides: ['before', 'after'], open: () => folder.open(file, {}, database) };
}

/** Every command is a step. */
const mongodb = (faults: Faults): Subject => {
  const database = useDatabase();
  let proxy: FailingProxy;
  before(async () => {
    const port = database.db.client.options.hosts[0]?.port;
    if (port === undefined) throw new Error('The server has no port.');
    proxy = await FailingProxy.start(port, faults);
  });
  after(() => proxy[Symbol.asyncDispose]());

  // Makes the driver look for the server immediately, not half a second after each cut.
  const options = 'directConnection=true&minHeartbeatFrequencyMS=10';
  return {
    sides: ['before', 'after', 'late'],
    isSlow: true,
    open() {
      const url = `mongodb://127.0.0.1:${proxy.port}/${database.db.databaseName}?${options}`;
      return openMongodbStore({ url });
    },
    release: () => proxy.release(),
  };
};
