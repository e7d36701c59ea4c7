import type { Collection, Entity } from '../domain/record.ts';
import type { StoreOptions } from '../ports/store.ts';
import { check, makes, offers, raises, repeats, same } from './assertions.ts';
import { receipt } from './fixtures.ts';
import { matches, put } from './lists.ts';
import { customFilters, type Opened, type Resource, type Suite } from './suite.ts';

/** Another deployment's: one name is new, one has another type, and one is filtered by no more. */
const otherFilters = {
  users: { age: 'number', city: 'number', team: 'text' },
  posts: { words: 'number', language: 'number', team: 'text' },
} as const;

/** Stores that are closed and opened again. */
export function describeReopen({ contract: { reopen }, both }: Suite): void {
  /** Closes a store, and uses its users or its posts once more, opened with these filters. */
  const again = async (
    name: Collection,
    { opened, watched }: Opened,
    filters: StoreOptions['customFilters'],
    use: (records: Resource<Entity>['records']) => Promise<void>,
  ): Promise<void> => {
    await opened.close();
    check(reopen, 'its contract has no reopen');
    await using store = await reopen(opened, { customFilters: filters });
    offers(store, filters);
    await use(watched(store)[name] as never);
  };

  both('records, the ids of deleted ones, and receipts are there', async (resource, _, first) => {
    const { name, records, make, remove } = resource;
    const [key, lost, record, gone] = [receipt(), receipt(), make({ n: [1] }), make()];
    const changed = { ...record, n: [2] };
    await makes(records, record, key);
    await records.update(record.id, () => changed);
    await makes(records, gone, lost);
    await remove(gone.id);
    await again(name, first, customFilters, async (after) => {
      same(await after.get(record.id), changed, 2);
      await matches(after, {}, [record.id]);
      for (const { id } of [record, gone]) await raises(after.create(make({ id })), 'id-taken');
      await repeats(after, key, record, make());
      await repeats(after, lost, gone, make());
    });
  });

  both('filters on other custom fields find every record', async (resource, _, first) => {
    const { name, records, make } = resource;
    const [text, number] = name === 'users' ? ['city', 'age'] : ['language', 'words'];
    const fields = (place: unknown, n: number) => ({ [text]: place, [number]: n, team: 'red' });
    const made = [make(fields('en', 1)), make(fields(7, 2)), make(fields('en', 2))];
    const [a = '', b = '', c = ''] = await put(records, made);
    const later = make(fields('en', 2));
    await again(name, first, otherFilters, async (other) => {
      await matches(other, { custom: { team: 'red' } }, [a, b, c]);
      await matches(other, { custom: { [text]: 7 } }, [b]);
      await matches(other, { custom: { [number]: 2 } }, [b, c]);
      await put(other, [later]);
      await other.update(a, ({ record }) => ({ ...record, [text]: 'fr', team: 'blue' }));
      await matches(other, { custom: { team: 'blue' } }, [a]);
    });
    await again(name, first, customFilters, async (back) => {
      await matches(back, { custom: { [text]: 'en' } }, [c, later.id]);
      await matches(back, { custom: { [text]: 'fr' } }, [a]);
      await matches(back, { custom: { [number]: 2 } }, [b, c, later.id]);
    });
  });
}
