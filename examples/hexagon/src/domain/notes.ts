import type { NoteQuery, NoteRepository } from '../ports/note-repository.ts';
import {
  changeNote,
  checkVersion,
  contentRules,
  moveNote,
  type Note,
  newNote,
  noteDefaults,
  noteRules,
  type Versions,
} from './note.ts';
import { anyId, integer, type Rules, readFields, readPatch } from './rules.ts';

const queryRules: Rules<NoteQuery> = { ownerId: anyId, after: anyId, limit: integer(1, 100) };

export type Notes = ReturnType<typeof createNotes>;

/** The use cases. They validate their input themselves, so every interface follows the same rules. */
export function createNotes(repository: NoteRepository, newId: () => string) {
  return {
    async create(input: unknown): Promise<Note> {
      const fields = readFields(input, noteRules, noteDefaults);
      const id = newId();
      return repository.create(fields.ownerId, (owner) => newNote(id, fields, owner));
    },

    get: (id: string) => repository.get(id),

    /** Returns a page. `next` is the `after` of the next page, if there is one. */
    async list(input: unknown) {
      const { limit = 20, ...query } = readPatch(input, queryRules, 'invalid-query');
      // Ask for one more than a page, to learn whether there is a next page.
      const found = await repository.list({ ...query, limit: limit + 1 });
      const notes = found.slice(0, limit);
      return { notes, next: found.length > limit ? notes.at(-1)?.id : undefined };
    },

    async change(id: string, input: unknown, versions?: Versions): Promise<Note> {
      const content = readPatch(input, contentRules, 'invalid-input');
      return repository.update(id, (note) => changeNote(note, content, versions));
    },

    async move(id: string, input: unknown, versions?: Versions): Promise<Note> {
      const { ownerId } = readFields(input, { ownerId: noteRules.ownerId });
      return repository.move(id, ownerId, (note, owner) => moveNote(note, owner, versions));
    },

    async remove(id: string, versions?: Versions): Promise<void> {
      await repository.delete(id, (note) => checkVersion(note, versions));
    },
  };
}
