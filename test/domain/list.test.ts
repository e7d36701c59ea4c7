import { expect } from 'chai';
import fc from 'fast-check';
import { cutPage } from '../../src/domain/list.ts';

const bytesOf = (texts: readonly string[]) => Buffer.byteLength(texts.join(''));

describe('cutting a page', () => {
  const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }), { maxLength: 12 });

  it('ends at the limit, or before the record that would bring it over the bytes', () => {
    fc.assert(
      fc.property(
        texts,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 300 }),
        (all, limit, bytes) => {
          const records = all.map((json, index) => ({ json, index }));
          const { items, next } = cutPage(records, { limit, bytes }, ({ index }) => ({
            key: null,
            id: `${index}`,
          }));
          const page = items.map(({ json }) => json);
          expect(page).to.deep.equal(all.slice(0, page.length));
          expect(page.length).to.be.at.most(limit);
          if (page.length > 1) expect(bytesOf(page)).to.be.at.most(bytes);
          if (page.length === all.length) expect(next).to.equal(undefined);
          else {
            expect(next).to.deep.equal({ key: null, id: `${page.length - 1}` });
            const isFull = page.length === limit || bytesOf(all.slice(0, page.length + 1)) > bytes;
            expect(isFull, 'ends no earlier than it has to').to.equal(true);
          }
        },
      ),
    );
  });

  it('takes one record beyond the page and no more', () => {
    let taken = 0;
    function* records() {
      for (;;) {
        taken += 1;
        yield { json: 'x'.repeat(10) };
      }
    }
    cutPage(records(), { limit: 3, bytes: 1000 }, () => ({ key: null, id: '' }));
    expect(taken).to.equal(4);
    cutPage(records(), { limit: 100, bytes: 25 }, () => ({ key: null, id: '' }));
    expect(taken).to.equal(7);
  });
});
