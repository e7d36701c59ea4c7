import { type DeclaredFields, listFields } from '../../src/domain/fields/declared-fields.ts';
import type { Store } from '../../src/ports/store.ts';

/** Removes what a database declares beyond these fields, and closes the store. */
export async function undeclareOthers(store: Store, kept: DeclaredFields = {}): Promise<void> {
  await store.ready();
  for (const { collection, name } of listFields(store.declaredFields ?? {})) {
    if (!Object.hasOwn(kept[collection] ?? {}, name)) await store.undeclare(collection, name);
  }
  await store.close();
}
