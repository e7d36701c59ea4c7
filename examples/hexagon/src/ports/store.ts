import type { Owner } from '../domain/owner.ts';
import type { NoteRepository } from './note-repository.ts';

export interface OwnerRepository {
  /** Throws `owner-not-found`. */
  get(id: string): Promise<Owner>;

  /** Adds an owner who has no notes. */
  create(owner: Owner): Promise<void>;
}

/** One database: a transaction can cover the records of several repositories. */
export interface Store {
  readonly notes: NoteRepository;
  readonly owners: OwnerRepository;
  close(): Promise<void>;
}
