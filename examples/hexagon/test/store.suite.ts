import { expect } from 'chai';
import { type Note, noteDefaults } from '../src/domain/note.ts';
import { type Owner, ownerDefaults } from '../src/domain/owner.ts';
import { change } from '../src/domain/version.ts';
import type { Repositories, Store } from '../src/ports/store.ts';

const makeOwner = (id: string) => ({ ...ownerDefaults, id, version: 1, name: id, noteCount: 0 });
const [a, b, c, d] = [makeOwner('a'), makeOwner('b'), makeOwner('c'), makeOwner('d')];

/** What the port promises. Stores have the same code for all kinds, but set up each by hand. */
export function testStore(store: Store): void {
  const save = (...records: Owner[]) =>
    store.transaction(async ({ owners }) => {
      for (const owner of records) await owners.save(owner);
    });
  const read = ({ owners }: Pick<Store, 'owners'>) => owners.list({}, { limit: 9 });
  beforeEach(() => store.transaction(({ owners }) => owners.delete({})));

  it('finds and lists records in the order of their ids', async () => {
    const other = change(b, {});
    await save(d, { ...other, color: 'red' } as Owner, a, other, c);
    await store.transaction(({ owners }) => owners.delete({ id: '' }));
    expect(await store.owners.find(c.id)).to.deep.equal(c);
    expect(await store.owners.find('?')).to.equal(undefined);
    expect(await read(store)).to.deep.equal([a, other, c, d]);
    expect(await store.owners.list({ version: 1 }, { limit: 2 })).to.deep.equal([a, c]);
    expect(await store.owners.list({ id: c.id, version: 2 }, { limit: 2 })).to.deep.equal([]);
    expect(await store.owners.list({}, { limit: 2, after: a.id })).to.deep.equal([other, c]);
  });

  for (const end of ['keeps', 'undoes'])
    it(`${end} all changes of a transaction, and hides them until it ends`, async () => {
      await save(a, b);
      const changed = change(a, {});
      const note: Note = { ...noteDefaults, id: end, version: 1, ownerId: a.id, title: end };
      const result = store.transaction(async (inside) => {
        await inside.owners.save(changed);
        await inside.owners.delete({ id: b.id });
        await inside.owners.save(c);
        await inside.notes.save(note);
        expect(await read(inside)).to.deep.equal([changed, c]);
        expect(await read(store)).to.deep.equal([a, b]);
        expect(await store.notes.find(note.id)).to.equal(undefined);
        if (end === 'undoes') throw new Error('refused');
      });
      expect(await errorsOf(result)).to.deep.equal(end === 'undoes' ? ['refused'] : []);
      expect(await read(store)).to.deep.equal(end === 'undoes' ? [a, b] : [changed, c]);
      expect(await store.notes.find(note.id)).to.deep.equal(end === 'undoes' ? undefined : note);
    });

  it('loses no change in a race', async () => {
    await save(a);
    const increase = async ({ owners }: Repositories) =>
      owners.save(change((await owners.find(a.id)) ?? b, {}));
    await Promise.all(Array.from({ length: 20 }, () => store.transaction(increase)));
    expect(await read(store)).to.deep.equal([{ ...a, version: 21 }]);
  });
}

/** Returns the codes or messages of the calls that fail. */
export async function errorsOf(...calls: Promise<unknown>[]): Promise<string[]> {
  const results = await Promise.allSettled(calls);
  const failures = results.filter((result) => result.status === 'rejected');
  return failures.map(({ reason }) => reason.code ?? reason.message);
}
