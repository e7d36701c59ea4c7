import { found } from '../domain/errors.ts';
import { type Owner, ownerDefaults, ownerRules } from '../domain/owner.ts';
import { readFields, readPatch } from '../domain/rules.ts';
import { change, checkVersion, type Versions } from '../domain/version.ts';
import type { Store } from '../ports/store.ts';
import { readPage } from './page.ts';

export type Owners = ReturnType<typeof createOwners>;

/** The use cases. They validate their input themselves, so every interface follows the same rules. */
export function createOwners(store: Store, newId: () => string) {
  return {
    async create(input: unknown): Promise<Owner> {
      const fields = readFields(input, ownerRules, ownerDefaults);
      const owner = { id: newId(), version: 1, ...fields, noteCount: 0 };
      await store.transaction(({ owners }) => owners.save(owner));
      return owner;
    },
    get: async (id: string) => found(await store.owners.find(id), 'owner-not-found'),
    list: (query: unknown) => readPage(store.owners, query),

    async change(id: string, input: unknown, versions?: Versions): Promise<Owner> {
      const fields = readPatch(input, ownerRules, 'invalid-input');
      return store.transaction(async ({ owners }) => {
        const owner = found(await owners.find(id), 'owner-not-found');
        checkVersion(owner, versions);
        const changed = change(owner, fields);
        await owners.save(changed);
        return changed;
      });
    },

    /** Deletes an owner and their notes. */
    async remove(id: string, versions?: Versions): Promise<void> {
      await store.transaction(async ({ owners, notes }) => {
        checkVersion(found(await owners.find(id), 'owner-not-found'), versions);
        await notes.delete({ ownerId: id });
        await owners.delete({ id });
      });
    },
  };
}
