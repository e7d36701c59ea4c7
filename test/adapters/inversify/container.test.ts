import { expect } from 'chai';
import {
  closeContainer,
  createContainer,
  override,
  tokens,
} from '../../../src/adapters/inversify/index.ts';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { isRostrumError } from '../../../src/index.ts';

const memory = { store: 'memory:', logLevel: 'silent' } as const;

describe('the container', () => {
  it('makes one of each part, and all on the same store', async () => {
    const container = createContainer(memory);
    const [rostrum, again] = await Promise.all([
      container.getAsync(tokens.rostrum),
      container.getAsync(tokens.rostrum),
    ]);
    expect(rostrum).to.equal(again);
    const { record } = await rostrum.users.create({ name: 'Ada' });
    const store = await container.getAsync(tokens.store);
    expect((await store.users.get(record.id))?.record).to.deep.equal(record);
    await closeContainer(container);
  });

  it('takes an override in place of a part', async () => {
    const store = createMemoryStore();
    const container = createContainer(
      memory,
      override(tokens.store, () => store),
      override(tokens.clock, () => ({ now: () => '2001-01-01T00:00:00.000Z' })),
      override(tokens.ids, async () => ({ next: () => 'the-one' })),
    );
    const { users } = await container.getAsync(tokens.rostrum);
    await users.create({ name: 'Ada' });
    const stored = await store.users.get('the-one');
    expect(stored?.record.createdAt).to.equal('2001-01-01T00:00:00.000Z');
    await closeContainer(container);
  });

  it('closes the store that it opened, an override too', async () => {
    for (const overrides of [[], [override(tokens.store, () => createMemoryStore())]]) {
      const container = createContainer(memory, ...overrides);
      const { users } = await container.getAsync(tokens.rostrum);
      await closeContainer(container);
      const error = await users.list().catch((reason: unknown) => reason);
      expect(isRostrumError(error, 'store-unavailable')).to.equal(true);
    }
  });

  it('opens no store only to close it', async () => {
    let opened = 0;
    const container = createContainer(
      memory,
      override(tokens.store, () => {
        opened++;
        return createMemoryStore();
      }),
    );
    await container.getAsync(tokens.clock);
    await closeContainer(container);
    expect(opened).to.equal(0);
  });

  it('does not take a part of another type', () => {
    // @ts-expect-error A clock is no store.
    override(tokens.store, () => ({ now: () => '' }));
  });
});
