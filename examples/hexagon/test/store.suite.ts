import { expect } from 'chai';
import type { Owner } from '../src/domain/owner.ts';
import { change } from '../src/domain/version.ts';
import type { Repositories, Store } from '../src/ports/store.ts';

const a: Owner = { id: 'a', version: 1, name: 'Ada', quota: 9, noteCount: 0 };
const [b, c, d] = [
  { ...a, id: 'b' },
  { ...a, id: 'c' },
  { ...a, id: 'd' },
];

/** What the port promises. It is the same for all kinds of records, so owners are enough. */
export function testStore(store: Store): void {
  const save = (...records: Owner[]) =>
    store.transaction(async ({ owners }) => {
      for (const owner of records) await owners.save(owner);
    });
  const read = ({ owners }: Pick<Store, 'owners'>) => owners.list({ name: 'Ada' }, { limit: 9 });
  beforeEach(() => store.transaction(({ owners }) => owners.delete({})));

  it('finds and lists records in the order of their ids', async () => {
    const { owners } = store;
    const other = { ...b, name: 'Other' };
    await save(d, a, other, c);
    expect(await owners.find(c.id)).to.deep.equal(c);
    expect(await owners.find('?')).to.equal(undefined);
    expect(await read(store)).to.deep.equal([a, c, d]);
    expect(await owners.list({ name: 'Ada', quota: 9 }, { limit: 2 })).to.deep.equal([a, c]);
    expect(await owners.list({}, { limit: 2, after: a.id })).to.deep.equal([other, c]);
  });

  for (const end of ['keeps', 'undoes'])
    it(`${end} all changes of a transaction, and hides them until it ends`, async () => {
      await save(a, b);
      const changed = change(a, { quota: 7 });
      const result = store.transaction(async ({ owners }) => {
        await owners.save(changed);
        await owners.delete({ id: b.id });
        await owners.save(c);
        expect(await read({ owners })).to.deep.equal([changed, c]);
        expect(await read(store)).to.deep.equal([a, b]);
        if (end === 'undoes') throw new Error('refused');
      });
      expect(await errorsOf(result)).to.deep.equal(end === 'undoes' ? ['refused'] : []);
      expect(await read(store)).to.deep.equal(end === 'undoes' ? [a, b] : [changed, c]);
    });

  it('loses no change in a race', async () => {
    await save(a);
    const increase = async ({ owners }: Repositories) => {
      const owner = (await owners.find(a.id)) ?? b;
      await owners.save(change(owner, { quota: owner.quota + 1 }));
    };
    await Promise.all(Array.from({ length: 20 }, () => store.transaction(increase)));
    expect(await read(store)).to.deep.equal([{ ...a, version: 21, quota: 29 }]);
  });
}

/** Returns the codes or messages of the calls that fail. */
export async function errorsOf(...calls: Promise<unknown>[]): Promise<string[]> {
  const results = await Promise.allSettled(calls);
  const failures = results.filter((result) => result.status === 'rejected');
  return failures.map(({ reason }) => reason.code ?? reason.message);
}
