import type { Entity } from '../domain/record.ts';
import type { Store } from '../ports/store.ts';
import { check, makes, raises, repeats, same } from './assertions.ts';
import { receipt } from './fixtures.ts';
import { matches, put } from './lists.ts';
import { customFilters, postsOf, type Resource, type Suite, usersOf } from './suite.ts';

/** Another deployment's: one name is new, one has another type, and one is filtered by no more. */
const otherFilters = {
  users: { age: 'number', city: 'number', team: 'text' },
  posts: { words: 'number', language: 'number', team: 'text' },
} as const;

/** Stores that are closed and opened again. */
export function describeReopen({ contract: { reopen }, both }: Suite): void {
  /** Closes the store, and uses it once more, opened with these filters. */
  const again = async <R extends Entity>(
    { name }: Resource<R>,
    opened: Store,
    filters: Parameters<NonNullable<typeof reopen>>[1]['customFilters'],
    use: (resource: Resource<Entity>) => Promise<void>,
  ): Promise<void> => {
    await opened.close();
    check(reopen, 'its contract has no reopen');
    await using store = await reopen(opened, { customFilters: filters });
    await use((name === 'users' ? usersOf(store) : postsOf(store)) as never);
  };

  both('records, the ids of deleted ones, and receipts are there', async (resource, _, opened) => {
    const { records, make, remove } = resource;
    const [key, lost, record, gone] = [receipt(), receipt(), make({ n: [1] }), make()];
    const changed = { ...record, n: [2] };
    await makes(records, record, key);
    await records.update(record.id, () => changed);
    await makes(records, gone, lost);
    await remove(gone.id);
    await again(resource, opened, customFilters, async (after) => {
      same(await after.records.get(record.id), changed, 2);
      await matches(after.records, {}, [record.id]);
      for (const { id } of [record, gone]) {
        await raises(after.records.create(make({ id })), 'id-taken');
      }
      await repeats(after.records, key, record, make());
      await repeats(after.records, lost, gone, make());
      const next = await after.records.update(record.id, (now) => ({ ...now.record, n: 3 }));
      same(next, { ...record, n: 3 }, 3);
    });
  });

  both('filters on other custom fields find every record', async (resource, _, opened) => {
    const { name, records, make } = resource;
    const [text, number] = name === 'users' ? ['city', 'age'] : ['language', 'words'];
    const fields = (place: unknown, n: number) => ({ [text]: place, [number]: n, team: 'red' });
    const made = [make(fields('en', 1)), make(fields(7, 2)), make(fields('en', 2))];
    const [a = '', b = '', c = ''] = await put(records, made);
    const later = make(fields('en', 2));
    await again(resource, opened, otherFilters, async (other) => {
      await matches(other.records, { custom: { team: 'red' } }, [a, b, c]);
      await matches(other.records, { custom: { [text]: 7 } }, [b]);
      await matches(other.records, { custom: { [number]: 2 } }, [b, c]);
      await put(other.records, [later]);
      await other.records.update(a, ({ record }) => ({ ...record, [text]: 'fr', team: 'blue' }));
      await matches(other.records, { custom: { team: 'blue' } }, [a]);
    });
    await again(resource, opened, customFilters, async (first) => {
      await matches(first.records, { custom: { [text]: 'en' } }, [c, later.id]);
      await matches(first.records, { custom: { [text]: 'fr' } }, [a]);
      await matches(first.records, { custom: { [number]: 2 } }, [b, c, later.id]);
    });
  });
}
