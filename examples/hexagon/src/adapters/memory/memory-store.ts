import type { Note } from '../../domain/note.ts';
import type { Owner } from '../../domain/owner.ts';
import type { Versioned } from '../../domain/version.ts';
import type { Filter, Repositories, Repository, Store } from '../../ports/store.ts';

type Tables = { readonly owners: Map<string, Owner>; readonly notes: Map<string, Note> };

const openRepositories = (getTables: () => Tables): Repositories => ({
  owners: openRepository(() => getTables().owners),
  notes: openRepository(() => getTables().notes),
});

/** Opens a store for tests and trials. Records are immutable, so it shares them with its callers. */
export function createMemoryStore(): Store {
  let tables: Tables = { owners: new Map(), notes: new Map() };
  let last: Promise<unknown> = Promise.resolve();

  return {
    ...openRepositories(() => tables),
    /** Runs one transaction after the other. Each changes copies of the tables. */
    transaction(work) {
      const result = last.then(async () => {
        const copies = { owners: new Map(tables.owners), notes: new Map(tables.notes) };
        const value = await work(openRepositories(() => copies));
        tables = copies;
        return value;
      });
      last = result.catch(() => {});
      return result;
    },
    close: async () => {},
  };
}

function openRepository<R extends Versioned>(getTable: () => Map<string, R>): Repository<R> {
  const select = (filter: Filter<R>): R[] =>
    [...getTable().values()].filter((record) =>
      Object.entries(filter).every(([name, value]) => record[name as keyof R] === value),
    );

  return {
    find: async (id) => getTable().get(id),
    list: async (filter, { after = '', limit }) =>
      select(filter)
        .filter(({ id }) => id > after)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit),
    save: async (record) => void getTable().set(record.id, record),
    async delete(filter) {
      for (const { id } of select(filter)) getTable().delete(id);
    },
  };
}
