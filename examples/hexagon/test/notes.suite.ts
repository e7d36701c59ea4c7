import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Store } from '../src/ports/store.ts';
import { createNotes } from '../src/use-cases/notes.ts';
import { createOwners } from '../src/use-cases/owners.ts';
import { errorsOf } from './store.suite.ts';

/** Rules over several records, on every store. */
export function testNotes(store: Store): void {
  const owners = createOwners(store, randomUUID);
  const notes = createNotes(store, randomUUID);
  const addOwner = async (quota = 100) => (await owners.create({ name: randomUUID(), quota })).id;
  const add = (ownerId: string) => notes.create({ ownerId, title: randomUUID() });
  const tenTimes = <T>(call: () => Promise<T>) => Array.from({ length: 10 }, call);
  const addMany = (ownerId: string) => tenTimes(() => add(ownerId));
  /** Returns how many notes an owner has, which the owner must know. */
  async function countOf(ownerId: string): Promise<number> {
    const { items } = await notes.list({ ownerId, limit: 100 });
    expect(await owners.get(ownerId)).to.include({ noteCount: items.length });
    return items.length;
  }

  it('creates, moves and removes a note and counts it, or does nothing', async () => {
    const [from, to, full] = [await addOwner(), await addOwner(), await addOwner(0)];
    const { id, ...note } = await add(from);
    const filter = { ownerId: from, pinned: false };
    expect(await store.notes.list(filter, { limit: 9 })).to.have.length(1);
    expect(note).to.include({ ownerId: from, text: '', pinned: false });
    for (const version of [1, 2]) await notes.change(id, { ownerId: to }, [version]);
    expect([await countOf(from), await countOf(to)]).to.deep.equal([0, 1]);
    const refused = [add(full), notes.change(id, { ownerId: full })];
    const unknown = [add('?'), notes.change(id, { ownerId: '?' })];
    const old = [notes.change(id, { ownerId: from }, [1]), notes.remove(id, [1])];
    const codes = ['quota-exceeded', 'unknown-owner', 'version-mismatch'];
    const errors = await errorsOf(...refused, ...unknown, ...old);
    expect(errors).to.deep.equal(codes.flatMap((code) => [code, code]));
    expect([await countOf(to), await countOf(full)]).to.deep.equal([1, 0]);
    await notes.remove(id, [3]);
    expect(await countOf(to)).to.equal(0);
  });

  it('never exceeds a quota in a race of moves and creations', async () => {
    const [from, to] = [await addOwner(), await addOwner(7)];
    const moved = await Promise.all(addMany(from));
    const moves = moved.map(({ id }) => notes.change(id, { ownerId: to }));
    const errors = await errorsOf(...addMany(to), ...moves);
    expect(errors).to.deep.equal(Array(13).fill('quota-exceeded'));
    expect(await countOf(to)).to.equal(7);
  });

  it('decides on what no other call has changed', async () => {
    const { id, ownerId } = await add(await addOwner());
    const changes = tenTimes(() => notes.change(id, { pinned: true }, [1]));
    expect(await errorsOf(...changes)).to.deep.equal(Array(9).fill('version-mismatch'));
    const removals = tenTimes(() => notes.remove(id));
    expect(await errorsOf(...removals)).to.deep.equal(Array(9).fill('note-not-found'));
    await Promise.all([...addMany(ownerId), ...tenTimes(() => owners.change(ownerId, {}))]);
    expect(await countOf(ownerId)).to.equal(10);
  });

  it('leaves no note of an owner who is removed in a race', async () => {
    const [ownerId, other] = [await addOwner(), await addOwner()];
    await Promise.all([add(ownerId), add(other)]);
    const errors = await errorsOf(...addMany(ownerId), owners.remove(ownerId), ...addMany(ownerId));
    expect(errors).to.deep.equal(errors.map(() => 'unknown-owner'));
    expect((await notes.list({ ownerId })).items).to.deep.equal([]);
    expect(await countOf(other)).to.equal(1);
  });
}
