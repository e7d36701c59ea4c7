import { beginTest, endTest, leaveTest } from './process.ts';

// Loaded by .mocharc.json. Kills the processes that a test leaves behind.

export const mochaHooks: Mocha.RootHookObject = {
  beforeEach(this: Mocha.Context) {
    const title = this.currentTest?.fullTitle() ?? '';
    beginTest(title);
  },
  afterEach: [endTest, leaveTest],
};

// By default, a signal ends a process without its `exit` event, in which its children are killed.
process.once('SIGTERM', () => process.exit(1));
