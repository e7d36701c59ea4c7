import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { changeNote, moveNote, type Note, newNote } from '../src/domain/note.ts';
import type { Store } from '../src/ports/store.ts';

/** Returns the codes or messages of the calls that fail. */
export async function errorsOf(...calls: Promise<unknown>[]): Promise<string[]> {
  const results = await Promise.allSettled(calls);
  const failures = results.filter((result) => result.status === 'rejected');
  return failures.map(({ reason }) => reason.code ?? reason.message);
}

/** The contract: every store passes these tests. */
export function describeStore(name: string, open: () => Promise<Store>): void {
  describe(`the ${name} store`, () => {
    let store: Store;
    before(async () => {
      store = await open();
    });
    after(() => store.close());

    const fail = () => {
      throw new Error('refused');
    };
    async function addOwner(quota = 100): Promise<string> {
      const id = randomUUID();
      await store.owners.create({ id, name: 'Ada', quota, noteCount: 0 });
      return id;
    }
    function addNote(ownerId: string, id: string = randomUUID()): Promise<Note> {
      const input = { ownerId, title: `Note ${id}`, text: 'Text', pinned: true };
      return store.notes.create(ownerId, (owner) => newNote(id, input, owner));
    }
    const countsOf = (...ids: string[]): Promise<number[]> =>
      Promise.all(ids.map(async (id) => (await store.owners.get(id)).noteCount));

    it('reports ids that do not exist', async () => {
      const { notes, owners } = store;
      const { id } = await addNote(await addOwner());
      expect(await errorsOf(owners.get('?'))).to.deep.equal(['owner-not-found']);
      const withoutOwner = errorsOf(notes.create('?', fail), notes.move(id, '?', fail));
      expect(await withoutOwner).to.deep.equal(Array(2).fill('unknown-owner'));
      const [update, move] = [notes.update('?', fail), notes.move('?', '?', fail)];
      const withoutNote = errorsOf(notes.get('?'), update, move, notes.delete('?', fail));
      expect(await withoutNote).to.deep.equal(Array(4).fill('note-not-found'));
    });

    it('writes nothing if decide throws', async () => {
      const { notes } = store;
      const [from, to] = [await addOwner(), await addOwner()];
      const note = await addNote(from);
      const [create, update] = [notes.create(from, fail), notes.update(note.id, fail)];
      const [move, remove] = [notes.move(note.id, to, fail), notes.delete(note.id, fail)];
      expect(await errorsOf(create, update, move, remove)).to.deep.equal(Array(4).fill('refused'));
      expect(await notes.get(note.id)).to.deep.equal(note);
      expect(await countsOf(from, to)).to.deep.equal([1, 0]);
    });

    it('lists notes in the order of their ids', async () => {
      const [ownerId, other] = [await addOwner(), await addOwner()];
      const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((letter) => `${ownerId}-${letter}`);
      for (const id of [d, a, c]) await addNote(ownerId, id);
      await addNote(other, b);
      const idsOf = async (query: object) =>
        (await store.notes.list({ limit: 3, ...query })).map(({ id }) => id);
      expect(await idsOf({ ownerId })).to.deep.equal([a, c, d]);
      expect(await idsOf({ ownerId, after: a, limit: 1 })).to.deep.equal([c]);
      expect(await idsOf({ after: a })).to.deep.equal([b, c, d]);
    });

    it('creates, updates, moves and deletes a note', async () => {
      const [from, to] = [await addOwner(), await addOwner()];
      const note = await addNote(from);
      const { id } = note;
      expect(await store.notes.get(id)).to.deep.equal(note);
      const content = { title: `New ${id}`, text: '', pinned: false };
      const updated = await store.notes.update(id, (note) => changeNote(note, content));
      expect(updated).to.deep.equal({ ...note, ...content, version: 2 });
      for (let times = 1; times <= 2; times++) {
        await store.notes.move(id, to, moveNote);
        expect(await store.notes.get(id)).to.deep.equal({ ...updated, ownerId: to, version: 3 });
        expect(await countsOf(from, to)).to.deep.equal([0, 1]);
      }
      await store.notes.delete(id, () => {});
      expect(await errorsOf(store.notes.get(id))).to.deep.equal(['note-not-found']);
      expect(await countsOf(to)).to.deep.equal([0]);
    });

    it('loses no update in a race', async () => {
      const { id } = await addNote(await addOwner());
      const addMark = (note: Note) => changeNote(note, { text: `${note.text}!` });
      await Promise.all(Array.from({ length: 20 }, () => store.notes.update(id, addMark)));
      expect(await store.notes.get(id)).to.include({ version: 21, text: `Text${'!'.repeat(20)}` });
    });

    it('never exceeds a quota in a race of moves and creations', async () => {
      const [from, to] = [await addOwner(), await addOwner(7)];
      const moved = await Promise.all(Array.from({ length: 10 }, () => addNote(from)));
      const calls = moved.flatMap(({ id }) => [addNote(to), store.notes.move(id, to, moveNote)]);
      const errors = await errorsOf(...calls);
      expect(errors).to.deep.equal(Array(13).fill('quota-exceeded'));
      expect(await store.notes.list({ ownerId: to, limit: 100 })).to.have.length(7);
      expect(await countsOf(to)).to.deep.equal([7]);
    });
  });
}
