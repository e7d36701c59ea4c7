import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { coreCalls } from './core-calls.ts';
import { runModel } from './run-model.ts';

const onTheCore = async (rostrum: Parameters<typeof coreCalls>[0]) => ({
  calls: coreCalls(rostrum),
  async [Symbol.asyncDispose]() {},
});

describe('random calls against a model of the contract', () => {
  it('the core on the memory store', async () => {
    await runModel({ open: createMemoryStore, attach: onTheCore }, { runs: 20, commands: 50 });
  });
});
