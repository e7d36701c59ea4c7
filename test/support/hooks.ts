import { beginTest, endTest, leaveTest } from './process.ts';

// Loaded by .mocharc.json. A test that is over leaves no process behind, and scripts/test.ts is
// told which test runs, so that it can name one that hangs.

export const mochaHooks: Mocha.RootHookObject = {
  beforeEach(this: Mocha.Context) {
    const title = this.currentTest?.fullTitle() ?? '';
    process.send?.({ running: title });
    beginTest(title);
  },
  afterEach: [endTest, leaveTest],
  afterAll() {
    process.send?.({});
  },
};

// By itself a signal ends a process without its `exit` event, and so without its children.
process.once('SIGTERM', () => process.exit(1));
