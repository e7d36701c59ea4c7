import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { describeStore } from '../../../src/testing/index.ts';

describeStore('the memory store', { describe, it, open: createMemoryStore });
