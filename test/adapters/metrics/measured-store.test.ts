import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { Metrics } from '../../../src/adapters/metrics/index.ts';
import { describeStore } from '../../../src/testing/index.ts';

describeStore('a store measured by Metrics', {
  describe,
  it,
  open: (options) => new Metrics().measured(createMemoryStore(options)),
});
