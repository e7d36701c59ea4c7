import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { z } from 'zod';
import {
  closeContainer,
  createContainer,
  decorate,
  override,
  rostrumToken,
  tokens,
} from '../../../src/adapters/inversify/index.ts';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { isRostrumError } from '../../../src/index.ts';
import { defaultSettings } from '../../../src/settings/settings.ts';
import { errorOf } from '../../support/error-of.ts';

const memory = { store: 'memory:', logLevel: 'silent' } as const;

describe('the container', () => {
  it('creates singletons that share one store', async () => {
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

  it('uses overrides', async () => {
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

  it('closes its store, even an overridden one', async () => {
    for (const overrides of [[], [override(tokens.store, () => createMemoryStore())]]) {
      const container = createContainer(memory, ...overrides);
      const { users } = await container.getAsync(tokens.rostrum);
      await closeContainer(container);
      const error = await users.list().catch((reason: unknown) => reason);
      expect(isRostrumError(error, 'store-unavailable')).to.equal(true);
    }
  });

  it('closes a store that is still being opened', async () => {
    const store = createMemoryStore();
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slowly = override(tokens.store, async () => {
      begun.resolve();
      await gate.promise;
      return store;
    });
    const container = createContainer(memory, slowly);
    const opening = container.getAsync(tokens.store);
    await begun.promise;
    const closing = closeContainer(container);
    gate.resolve();
    await Promise.all([closing, opening]);
    expect(isRostrumError(await errorOf(store.users.get('u')), 'store-unavailable')).to.equal(true);
  });

  it('opens no store after it is closed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rostrum-container-'));
    const container = createContainer({ store: `sqlite:${folder}/x.db`, logLevel: 'silent' });
    const app = container.getAsync(tokens.app);
    await closeContainer(container);
    expect(String(await errorOf(app))).to.equal('Error: The container is closed.');
    expect(readdirSync(folder)).to.deep.equal([]);
    rmSync(folder, { recursive: true });
  });

  it('closes without an error if the store cannot be opened', async () => {
    const failing = override(tokens.store, async () => {
      throw new Error('There is no disk.');
    });
    const container = createContainer(memory, failing);
    const opening = container.getAsync(tokens.store);
    await closeContainer(container);
    expect(String(await errorOf(opening))).to.equal('Error: There is no disk.');
  });

  it('rejects invalid values of settings', () => {
    for (const [name, value] of [
      ['port', 'abc'],
      ['port', 65_536],
      ['logLevel', 'loud'],
      ['requireIfMatch', 'yes'],
      ['anonymous', ['posts:read', 'all of it']],
      ['cors', ['https://a.example/path']],
    ] as const) {
      const settings = { ...memory, [name]: value };
      expect(() => createContainer(settings), name).to.throw(TypeError, `"${name}" must be`);
    }
    const good = { port: 0, cors: [], trustProxy: ['10.0.0.0/8'], field: ['posts.slug:text'] };
    expect(() => createContainer({ ...memory, ...good, anonymous: ['posts:read'] })).not.to.throw();
  });

  it('does not open a store just to close it', async () => {
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

  it('applies decorators in order, once', async () => {
    const opened = createMemoryStore();
    const closed: string[] = [];
    const named = (name: string) =>
      decorate(tokens.store, (inner) => ({
        ...inner,
        async close() {
          closed.push(name);
          await inner.close();
        },
      }));
    let clocks = 0;
    const container = createContainer(
      memory,
      override(tokens.store, () => opened),
      named('inner'),
      named('outer'),
      decorate(tokens.clock, async (inner) => {
        clocks++;
        return { now: () => inner.now().replace(/^..../, '2001') };
      }),
      decorate(tokens.metrics, (metrics) => metrics),
    );
    const { users } = await container.getAsync(tokens.rostrum);
    expect((await users.create({ name: 'Ada' })).record.createdAt).to.match(/^2001-/);
    await container.getAsync(tokens.clock);
    expect(clocks).to.equal(1);
    await closeContainer(container);
    expect(closed).to.deep.equal(['outer', 'inner']);
    const error = await opened.users.get('u').catch((reason: unknown) => reason);
    expect(isRostrumError(error, 'store-unavailable')).to.equal(true);
  });

  it('drops earlier decorators of a service that is overridden', async () => {
    const clock = { now: () => '2001-01-01T00:00:00.000Z' };
    const container = createContainer(
      memory,
      decorate(tokens.clock, () => ({ now: () => '2002-01-01T00:00:00.000Z' })),
      override(tokens.clock, () => clock),
    );
    expect(await container.getAsync(tokens.clock)).to.equal(clock);
  });

  it('infers the types of custom fields from rostrumToken', async () => {
    const customFields = { users: z.strictObject({ born: z.int() }) };
    const container = createContainer(
      memory,
      override(tokens.customFields, () => customFields),
    );
    const rostrum = await container.getAsync(rostrumToken(customFields));
    const { record } = await rostrum.users.create({ name: 'Ada', born: 1815 });
    const born: number = record.born;
    expect(born).to.equal(1815);
    expect(rostrum).to.equal(await container.getAsync(tokens.rostrum));
    // @ts-expect-error Not in the schema.
    expect(record.bron).to.equal(undefined);
    await closeContainer(container);
  });

  it('rejects unknown settings', () => {
    const misspelt = { stroe: 'memory:' } as object;
    const error = 'Unknown name "stroe" in the settings. Known names: port, host, store,';
    expect(() => createContainer(misspelt)).to.throw(TypeError, error);
    expect(() => createContainer('memory:' as never)).to.throw(TypeError);
  });

  it('uses the default for settings that are undefined', async () => {
    const container = createContainer({ ...memory, host: undefined, port: 8080 });
    const settings = await container.getAsync(tokens.settings);
    expect(settings).to.deep.equal({ ...defaultSettings, ...memory, port: 8080 });
  });
});
