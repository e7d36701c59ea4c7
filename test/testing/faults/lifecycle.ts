import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { isRostrumError, storeUnavailable } from '../../../src/domain/errors.ts';
import { post, user } from '../../../src/testing/fixtures.ts';
import { elsewhere, type Fault, inBoth } from './plant.ts';

export const lifecycle: Fault[] = [
  {
    fault: 'is not empty when it is opened',
    breaks: 'a fresh store is ready and empty',
    plan: {
      posts: (inner) => {
        inner.create(post());
        return {};
      },
    },
  },
  {
    fault: 'is ready once and no more',
    breaks: 'a fresh store is ready and empty',
    plan: {
      store: () => {
        let asked = 0;
        return {
          ready: async () => {
            if (asked++ > 0) throw storeUnavailable('none');
          },
        };
      },
    },
  },
  {
    fault: 'opens what the test before it left',
    breaks: 'each store that is opened is fresh: another',
    plan: {
      users: (inner) => ({
        create: (record, claim) => {
          shared.users.create(record).catch(() => {});
          return inner.create(record, claim);
        },
        get: async (id) => (await shared.users.get(id)) ?? inner.get(id),
      }),
    },
  },
  {
    fault: 'is opened on another’s records',
    breaks: 'each store that is opened is fresh: one',
    plan: {
      users: (inner) => {
        inner.create(user({ id: 'left' }));
        return {};
      },
    },
  },
  {
    fault: 'cannot be closed again',
    breaks: 'closing again does nothing',
    plan: closingOnce(),
  },
  {
    fault: 'cannot be closed twice at once',
    breaks: 'closing twice at once closes once',
    plan: closingOnce(),
  },
  {
    fault: 'stays open after close',
    breaks: 'after close, every call ends in store-unavailable',
    plan: { store: () => ({ close: async () => {} }) },
  },
  {
    fault: 'is ready after close',
    breaks: 'after close, every call ends in store-unavailable',
    plan: { store: () => ({ ready: async () => {} }) },
  },
  {
    fault: 'lists from a copy after close',
    breaks: 'after close, every call ends in store-unavailable',
    plan: inBoth((inner) => ({
      list: (filter, page) => inner.list(filter, page).catch(() => ({ items: [] })),
    })),
  },
  {
    fault: 'does not know what became of a change after close',
    breaks: 'after close, every call ends in store-unavailable',
    plan: inBoth((inner) => ({
      create: (record, claim) =>
        inner.create(record, claim).catch((error) => {
          if (isRostrumError(error, 'store-unavailable')) throw storeUnavailable('unknown');
          throw error;
        }),
    })),
  },
  {
    fault: 'stays open when it is disposed of',
    breaks: 'Symbol.asyncDispose closes',
    plan: { store: () => ({ [Symbol.asyncDispose]: async () => {} }) },
  },
  {
    fault: 'drops the changes that are under way at close',
    breaks: 'changes that are under way come to their end',
    plan: inBoth((inner) => ({
      create: async (record, claim) => {
        await elsewhere();
        return inner.create(record, claim);
      },
    })),
  },
  {
    fault: 'is closed before the changes under way have ended',
    breaks: 'changes that are under way come to their end',
    plan: inBoth((inner) => ({
      create: async (record, claim) => {
        const creation = await inner.create(record, claim);
        await elsewhere();
        return creation;
      },
    })),
  },
];

const shared = createMemoryStore();

function closingOnce(): Fault['plan'] {
  return {
    store: (inner) => {
      let closing = false;
      return {
        close: async () => {
          if (closing) throw new Error('closed already');
          closing = true;
          await inner.close();
        },
      };
    },
  };
}
