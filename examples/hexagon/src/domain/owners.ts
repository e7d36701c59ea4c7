import type { OwnerRepository } from '../ports/store.ts';
import { newOwner, type Owner } from './owner.ts';

export type Owners = ReturnType<typeof createOwners>;

export function createOwners(repository: OwnerRepository, newId: () => string) {
  return {
    async create(input: unknown): Promise<Owner> {
      const owner = newOwner(newId(), input);
      await repository.create(owner);
      return owner;
    },

    get: (id: string) => repository.get(id),
  };
}
