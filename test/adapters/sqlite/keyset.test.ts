import { expect } from 'chai';
import type { Order, TimeSpan } from '../../../src/domain/page.ts';
import { Folder } from './support/folder.ts';
import { user } from './support/records.ts';

const at = (second: number) => `2026-05-05T05:05:0${second}.000Z`;

describe('positions and spans in the sqlite store', () => {
  const folder = new Folder();
  const seconds = [1, 2, 3, 4, 5, 6];
  const ends = [undefined, 0, 2, 4, 7];

  /** What a list has to be, said in the plainest way. */
  function wanted(way: Order<string>['direction'], after: number, from = 0, before = 9) {
    const inside = seconds.filter((one) => one >= from && one < before);
    if (way === 'asc') return inside.filter((one) => one > after);
    return inside.filter((one) => one < after).reverse();
  }

  for (const by of ['createdAt', 'updatedAt'] as const) {
    for (const direction of ['asc', 'desc'] as const) {
      it(`by ${by} ${direction}: a position before, in and behind each span`, async () => {
        const store = folder.open();
        await Promise.all(
          seconds.map((one) => {
            const id = `${one}`;
            return store.users.create(user(id, { createdAt: at(one), updatedAt: at(one) }));
          }),
        );
        for (const from of ends) {
          for (const before of ends) {
            for (const after of [0, 1, 2, 3, 4, 5, 6, 7]) {
              const span: TimeSpan = {
                from: from === undefined ? undefined : at(from),
                before: before === undefined ? undefined : at(before),
              };
              const page = await store.users.list(
                { [by]: span },
                { order: { by, direction }, limit: 10, after: { key: at(after), id: `${after}` } },
              );
              const found = page.items.map(({ record }) => Number(record.id));
              expect(found, `after ${after} in [${from}, ${before})`).to.deep.equal(
                wanted(direction, after, from, before),
              );
            }
          }
        }
        for (const end of ['from', 'before'] as const) {
          const page = { order: { by, direction }, limit: 9, after: { key: 'no time', id: 'x' } };
          const { items } = await store.users.list({ [by]: { [end]: at(3) } }, page);
          expect(items).to.deep.equal([]);
        }
      });
    }
  }

  it('behind a position in an order by the value that is filtered for', async () => {
    const store = folder.open();
    await Promise.all(['1', '2', '3'].map((id) => store.users.create(user(id, { name: '～' }))));
    const found = async (direction: 'asc' | 'desc', key: string, id: string) => {
      const page = { order: { by: 'name', direction }, limit: 9, after: { key, id } } as const;
      return (await store.users.list({ name: '～' }, page)).items.map(({ record }) => record.id);
    };
    expect(await found('asc', '～', '2')).to.deep.equal(['3']);
    expect(await found('desc', '～', '2')).to.deep.equal(['1']);
    // By code point 😀 is behind ～, by UTF-16 unit it is before.
    expect(await found('asc', '😀', '2')).to.deep.equal([]);
    expect(await found('desc', '😀', '2')).to.deep.equal(['3', '2', '1']);
    expect(await found('asc', 'a', '2')).to.deep.equal(['1', '2', '3']);
    expect(await found('desc', 'a', '2')).to.deep.equal([]);
  });
});
