import type { Note } from '../domain/note.ts';
import type { Owner } from '../domain/owner.ts';
import type { Versioned } from '../domain/version.ts';

export interface Page {
  readonly limit: number;
  /** Only records with greater ids. */
  readonly after?: string;
}

/** Selects the records that have these values. Stores would compare lists and objects differently. */
export type Filter<R> = { readonly [Name in keyof R]?: R[Name] & (string | number | boolean) };

/** The records of one kind. */
export interface Reader<R extends Versioned> {
  find(id: string): Promise<R | undefined>;
  /** Returns records in ascending order of their ids. */
  list(filter: Filter<R>, page: Page): Promise<readonly R[]>;
}

export interface Repository<R extends Versioned> extends Reader<R> {
  /** Adds a record, or replaces the one with its id. */
  save(record: R): Promise<void>;
  delete(filter: Filter<R>): Promise<void>;
}

export interface Repositories {
  readonly owners: Repository<Owner>;
  readonly notes: Repository<Note>;
}

/** One database. Outside a transaction, it can only be read. */
export interface Store {
  readonly owners: Reader<Owner>;
  readonly notes: Reader<Note>;

  /**
   * Keeps all changes that `work` makes to these repositories, or none of them if it throws. Nobody else
   * sees them before.
   *
   * If two transactions save or delete the same record, one runs after the other. So if a decision
   * depends on a record, save the record, too. A store runs `work` again after a conflict, and can run
   * one transaction at a time: `work` must await nothing but these repositories, and change nothing else.
   */
  transaction<T>(work: (repositories: Repositories) => Promise<T>): Promise<T>;

  close(): Promise<void>;
}
