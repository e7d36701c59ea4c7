import { type ErrorCode, found } from '../../domain/errors.ts';
import type { Note } from '../../domain/note.ts';
import type { Owner } from '../../domain/owner.ts';
import type { Store } from '../../ports/store.ts';

/**
 * A store for tests and trials. Each method is a transaction because it contains no `await`: nothing else
 * runs until it ends. Records are immutable, so the store and its callers can share them.
 */
export function createMemoryStore(): Store {
  const notes = new Map<string, Note>();
  const owners = new Map<string, Owner>();

  const findNote = (id: string) => found(notes.get(id), 'note-not-found');

  function findOwner(id: string, code: ErrorCode): Owner {
    const noteCount = [...notes.values()].filter(({ ownerId }) => ownerId === id).length;
    return { ...found(owners.get(id), code), noteCount };
  }

  function write(note: Note): Note {
    notes.set(note.id, note);
    return note;
  }

  return {
    notes: {
      get: async (id) => findNote(id),
      list: async ({ ownerId, after = '', limit }) =>
        [...notes.values()]
          .filter((note) => note.id > after && (ownerId === undefined || note.ownerId === ownerId))
          .sort((a, b) => (a.id < b.id ? -1 : 1))
          .slice(0, limit),
      create: async (ownerId, decide) => write(decide(findOwner(ownerId, 'unknown-owner'))),
      update: async (id, decide) => write(decide(findNote(id))),
      move: async (id, ownerId, decide) =>
        write(decide(findNote(id), findOwner(ownerId, 'unknown-owner'))),
      async delete(id, check) {
        check(findNote(id));
        notes.delete(id);
      },
    },
    owners: {
      get: async (id) => findOwner(id, 'owner-not-found'),
      create: async (owner) => void owners.set(owner.id, owner),
    },
    close: async () => {},
  };
}
