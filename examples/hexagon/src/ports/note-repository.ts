import type { Note } from '../domain/note.ts';
import type { Owner } from '../domain/owner.ts';

/** Selects the notes of one owner, or of all, with ids greater than `after`. */
export interface NoteQuery {
  readonly ownerId?: string | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

/**
 * Every method that writes is one transaction. The store reads the current records, passes them to
 * `decide`, writes the note that it returns, and commits. If `decide` throws, the store writes nothing
 * and throws the same error.
 *
 * `decide` must be synchronous and free of side effects, because a store calls it again after a conflict.
 * Concurrent calls have the same outcome as calls that run one after the other.
 */
export interface NoteRepository {
  /** Throws `note-not-found`. */
  get(id: string): Promise<Note>;

  /** Returns at most `limit` notes, in ascending order of their ids. */
  list(query: NoteQuery): Promise<readonly Note[]>;

  /** Adds a note of this owner. Throws `unknown-owner`. */
  create(ownerId: string, decide: (owner: Owner) => Note): Promise<Note>;

  /** Replaces a note. `decide` must keep its id and its owner. Throws `note-not-found`. */
  update(id: string, decide: (note: Note) => Note): Promise<Note>;

  /** Gives a note to this owner, who may already have it. Throws as `update` and `create` do. */
  move(id: string, ownerId: string, decide: (note: Note, owner: Owner) => Note): Promise<Note>;

  /** Deletes a note unless `check` throws. Throws `note-not-found`. */
  delete(id: string, check: (note: Note) => void): Promise<void>;
}
