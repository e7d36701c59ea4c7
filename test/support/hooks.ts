import { beginTest, endTest, leaveTest } from './process.ts';

// Loaded by .mocharc.json: a test that is over leaves no process behind.

export const mochaHooks: Mocha.RootHookObject = {
  beforeEach(this: Mocha.Context) {
    const title = this.currentTest?.fullTitle() ?? '';
    beginTest(title);
  },
  afterEach: [endTest, leaveTest],
};

// By itself a signal ends a process without its `exit` event, and so without its children.
process.once('SIGTERM', () => process.exit(1));
