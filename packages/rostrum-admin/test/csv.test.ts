import { expect } from 'chai';
import { csvOf } from '../src/page/csv.ts';

const linesOf = (...items: object[]) =>
  csvOf(items.map((item) => ({ id: '1', ...item })))
    .slice(1)
    .split('\r\n');

describe('the CSV of a list', () => {
  it('has a header with all fields and a line for each record', () => {
    expect(linesOf({ colour: 'blue', title: 'A' }, { title: 'B', views: 3 })).to.deep.equal([
      ...['id,title,colour,views', '1,A,blue,', '1,B,,3', ''],
    ]);
  });

  it('begins with a byte order mark', () => {
    expect(csvOf([{ id: '1' }])).to.equal('\uFEFFid\r\n1\r\n');
  });

  it('quotes values with commas, quotes and line breaks', () => {
    expect(csvOf([{ id: '1', title: 'A, "B"\nC' }])).to.contain('1,"A, ""B""\nC"\r\n');
    expect(csvOf([{ id: '1', title: 'A\rB' }])).to.contain('"A\rB"');
  });

  it('escapes formulas, also in field names', () => {
    for (const sign of '=+-@\t＝＋－＠') {
      expect(linesOf({ title: `${sign}1+1` })[1]).to.equal(`1,'${sign}1+1`);
      expect(linesOf({ [`${sign}1`]: 1 })[0]).to.equal(`id,'${sign}1`);
    }
    expect(linesOf({ title: '\r=1' }).join('\r\n')).to.contain(`"'\r=1"`);
    expect(linesOf({ title: '="a"' })[1]).to.equal(`1,"'=""a"""`);
    expect(linesOf({ title: "'a" })[1]).to.equal(`1,''a`);
    expect(linesOf({ tags: ['-a', '=b'] })[1]).to.equal(`1,"'-a, =b"`);
  });

  it('writes numbers unchanged, texts as a list, and other nested values as JSON', () => {
    const lists = { tags: ['a', 'b c'], one: ['a'], numbers: [1, 2] };
    expect(linesOf({ views: -3, pinned: true, ...lists, none: null })).to.deep.equal([
      ...['id,views,pinned,tags,one,numbers,none', '1,-3,true,"a, b c",a,"[1,2]",', ''],
    ]);
  });
});
