import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { describeStore } from '../../../src/ports/contracts/index.ts';

describeStore('the memory store', { describe, it, open: createMemoryStore });
