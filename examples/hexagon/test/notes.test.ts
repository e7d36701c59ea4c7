import { expect } from 'chai';
import { createMemoryStore } from '../src/adapters/memory/memory-store.ts';
import { createNotes } from '../src/domain/notes.ts';
import { errorsOf } from './store.suite.ts';

describe('the use cases of notes', () => {
  const store = createMemoryStore();
  let lastId = 0;
  const notes = createNotes(store.notes, () => `${++lastId}`);

  before(async () => {
    await store.owners.create({ id: 'ada', name: 'Ada', quota: 9, noteCount: 0 });
    await store.owners.create({ id: 'grace', name: 'Grace', quota: 3, noteCount: 0 });
  });

  it('fill in defaults, and name all invalid fields', async () => {
    const input = { ownerId: 'ada', title: 'Hello' };
    const note = await notes.create(input);
    expect(note).to.include({ id: '1', version: 1, ...input, text: '', pinned: false });
    const invalid = { title: '\ud800', pinned: 1, colour: 'red' };
    const { issues, message } = await notes.create(invalid).catch((error) => error);
    expect(message).to.equal('The input is invalid. Check ownerId, title, pinned, colour.');
    expect(issues[3]).to.deep.equal({ field: 'colour', message: 'Unknown field.' });
  });

  it('reject versions that the caller does not accept', async () => {
    const { id } = await notes.create({ ownerId: 'ada', title: 'Old' });
    const note = await notes.change(id, { title: 'New' }, [1, 7]);
    expect(note).to.include({ version: 2, title: 'New' });
    const move = notes.move(id, { ownerId: 'grace' }, [1, 7]);
    const errors = await errorsOf(notes.change(id, {}, [1, 7]), move, notes.remove(id, [1, 7]));
    expect(errors).to.deep.equal(Array(3).fill('version-mismatch'));
    expect(await notes.get(id)).to.deep.equal(note);
    await notes.remove(id, [2]);
  });

  it('check the quota of every new owner of a note', async () => {
    const grace = { ownerId: 'grace' };
    for (const title of 'abc') await notes.create({ ...grace, title });
    const errors = await errorsOf(notes.create({ ...grace, title: 'd' }), notes.move('1', grace));
    expect(errors).to.deep.equal(Array(2).fill('quota-exceeded'));
    expect(await errorsOf(notes.change('1', grace))).to.deep.equal(['invalid-input']);
  });

  it('list pages', async () => {
    const first = await notes.list({ ownerId: 'grace', limit: 2 });
    const last = await notes.list({ ownerId: 'grace', limit: 2, after: first.next });
    expect([first.notes.length, last.notes.length, last.next]).to.deep.equal([2, 1, undefined]);
  });
});
