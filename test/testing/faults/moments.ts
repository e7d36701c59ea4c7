import {
  type Entity,
  type Id,
  RostrumError,
  type Versioned,
  VersionedRecord,
} from '../../../src/ports/index.ts';
import { elsewhere, type Fault, inBoth, inDeletions } from './plant.ts';

/** What a store does too early, too late, or with an object that is not its own. */
export const moments: Fault[] = [
  {
    fault: 'does not note the ids of what it loads',
    breaks: 'load replaces a record',
    says: /isIdTaken of a loaded id is false/,
    plan: {
      ...inBoth((inner) => ({
        isIdTaken: async (id) =>
          isLoaded(inner, id) ? (await inner.get(id)) !== undefined : inner.isIdTaken(id),
      })),
      transfer: (inner) => ({
        load: (records) => {
          for (const { record } of records) note(inner, (record as unknown as Entity).id);
          return inner.load(records);
        },
      }),
    },
  },
  {
    fault: 'shows one object to all decisions',
    breaks: 'changing what a function is shown changes nothing',
    says: /what a decision was shown/,
    plan: inBoth((inner) => {
      const shown = new Map<string, Versioned<unknown>>();
      return {
        update: (id, decide) =>
          inner.update(id, (current) => {
            const one = sharedBy(shown, id, current);
            const next = decide(one);
            return next === one.record ? current.record : next;
          }),
      };
    }),
  },
  {
    fault: 'shows one object to all guards',
    breaks: 'changing what a function is shown changes nothing',
    says: /what a guard was shown/,
    plan: inDeletions((id, guard, proceed, inner) => {
      const shown = guarded.get(inner) ?? new Map();
      guarded.set(inner, shown);
      return proceed(guard && ((current) => guard(sharedBy(shown, id, current))));
    }),
  },
  {
    fault: 'makes a record readable before it refuses it',
    breaks: 'a creation that is refused leaves no trace',
    says: /a record that is about to be refused is there/,
    plan: inBoth((inner) => {
      const early = new Map<Id, Versioned<never>>();
      return {
        get: async (id) => early.get(id) ?? inner.get(id),
        create: async (record, receipt) => {
          early.set(record.id, new VersionedRecord(record as never, 1));
          await elsewhere();
          return inner.create(record, receipt).finally(() => early.delete(record.id));
        },
      };
    }),
  },
  {
    fault: 'uses up the id of a record that it refuses',
    breaks: 'a creation that is refused leaves no trace',
    says: /isIdTaken of the id of a refused record is true, where false is right/,
    plan: inBoth((inner) => {
      const used = new Set<Id>();
      return {
        isIdTaken: async (id) => used.has(id) || inner.isIdTaken(id),
        create: async (record, receipt) => {
          if (used.has(record.id)) throw new RostrumError('id-taken', { id: record.id });
          return inner.create(record, receipt).catch((error) => {
            used.add(record.id);
            throw error;
          });
        },
      };
    }),
  },
  {
    fault: 'reads a filter after a wait',
    breaks: 'changing what was handed in changes nothing',
    says: /page whose request was changed after the call|list\(.*\) ended in/,
    plan: inBoth((inner) => ({
      list: async (request) => {
        await elsewhere();
        return inner.list(request);
      },
    })),
  },
  {
    fault: 'reads a new record after a wait',
    breaks: 'changing what was handed in changes nothing',
    says: /what create returned/,
    plan: inBoth((inner) => ({
      create: async (record, receipt) => {
        await elsewhere();
        return inner.create(record, receipt);
      },
    })),
  },
  {
    fault: 'throws at once where an id is taken',
    breaks: 'a taken id is refused',
    says: /create\(.*\) threw at once, or returned no promise: RostrumError/,
    plan: inBoth((inner) => {
      const known = new Set<Id>();
      return {
        create: (record, receipt) => {
          if (known.has(record.id)) throw new RostrumError('id-taken', { id: record.id });
          known.add(record.id);
          return inner.create(record, receipt);
        },
      };
    }),
  },
  {
    fault: 'returns no promise where an id is free',
    breaks: 'a taken id is refused',
    says: /isIdTaken\(.*\) threw at once, or returned no promise/,
    plan: inBoth(() => ({ isIdTaken: () => false as never })),
  },
];

/** The ids that were loaded, by the repository. */
const loaded = new WeakMap<object, Set<Id>>();

function isLoaded(inner: object, id: Id): boolean {
  return loaded.get(inner)?.has(id) === true;
}

function note(inner: object, id: Id): void {
  loaded.set(inner, (loaded.get(inner) ?? new Set()).add(id));
}

/** What was shown to guards, by the repository. */
const guarded = new WeakMap<object, Map<string, Versioned<unknown>>>();

/** The object that was shown first of a version. */
function sharedBy<R>(shown: Map<string, Versioned<unknown>>, id: Id, current: Versioned<R>) {
  const name = `${id} ${current.version}`;
  const one = shown.get(name) ?? current;
  shown.set(name, one);
  return one as Versioned<R>;
}
