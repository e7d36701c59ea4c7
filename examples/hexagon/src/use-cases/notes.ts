import { found } from '../domain/errors.ts';
import { addNote, type Note, noteDefaults, noteRules, subtractNote } from '../domain/note.ts';
import { readFields, readPatch } from '../domain/rules.ts';
import { change, checkVersion, type Versions } from '../domain/version.ts';
import type { Store } from '../ports/store.ts';
import { readPage } from './page.ts';

export type Notes = ReturnType<typeof createNotes>;

/** Owners count their notes, so creating, moving and removing a note are changes of several records. */
export function createNotes(store: Store, newId: () => string) {
  return {
    async create(input: unknown): Promise<Note> {
      const note = { id: newId(), version: 1, ...readFields(input, noteRules, noteDefaults) };
      return store.transaction(async ({ notes, owners }) => {
        const owner = found(await owners.find(note.ownerId), 'unknown-owner');
        await owners.save(addNote(owner));
        await notes.save(note);
        return note;
      });
    },
    get: async (id: string) => found(await store.notes.find(id), 'note-not-found'),
    list: (query: unknown) => readPage(store.notes, query, { ownerId: noteRules.ownerId }),

    /** Changes a note. A new `ownerId` moves it to another owner, who must have room for it. */
    async change(id: string, input: unknown, versions?: Versions): Promise<Note> {
      const fields = readPatch(input, noteRules, 'invalid-input');
      return store.transaction(async ({ notes, owners }) => {
        const before = found(await notes.find(id), 'note-not-found');
        checkVersion(before, versions);
        const note = change(before, fields);
        if (note.ownerId !== before.ownerId) {
          const from = found(await owners.find(before.ownerId), 'owner-not-found');
          const to = found(await owners.find(note.ownerId), 'unknown-owner');
          await owners.save(subtractNote(from));
          await owners.save(addNote(to));
        }
        await notes.save(note);
        return note;
      });
    },

    async remove(id: string, versions?: Versions): Promise<void> {
      await store.transaction(async ({ notes, owners }) => {
        const note = found(await notes.find(id), 'note-not-found');
        checkVersion(note, versions);
        const owner = found(await owners.find(note.ownerId), 'owner-not-found');
        await owners.save(subtractNote(owner));
        await notes.delete({ id });
      });
    },
  };
}
