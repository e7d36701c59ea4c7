import { expect } from 'chai';
import fc from 'fast-check';
import { mergePatch } from '../../src/domain/records/merge-patch.ts';

describe('JSON merge patch', () => {
  it('follows the examples of RFC 7396, appendix A', () => {
    const examples: [unknown, unknown, unknown][] = [
      [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
      [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
      [{ a: 'b' }, { a: null }, {}],
      [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
      [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
      [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
      [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
      [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
      [
        ['a', 'b'],
        ['c', 'd'],
        ['c', 'd'],
      ],
      [{ a: 'b' }, ['c'], ['c']],
      [{ a: 'foo' }, null, null],
      [{ a: 'foo' }, 'bar', 'bar'],
      [{ e: null }, { a: 1 }, { e: null, a: 1 }],
      [[1, 2], { a: 'b', c: null }, { a: 'b' }],
      [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    ];
    for (const [target, patch, result] of examples) {
      expect(mergePatch(target, patch), JSON.stringify(patch)).to.deep.equal(result);
    }
  });

  it('modifies neither argument, and is idempotent', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
        const before = JSON.stringify([target, patch]);
        const once = mergePatch(target, patch);
        expect(JSON.stringify([target, patch])).to.equal(before);
        expect(mergePatch(once, patch)).to.deep.equal(once);
      }),
    );
  });

  it('treats "__proto__" like any other key', () => {
    const merged = mergePatch({}, JSON.parse('{"__proto__": {"polluted": true}}'));
    expect(Object.keys(merged as object)).to.deep.equal(['__proto__']);
    expect(Object.getPrototypeOf(merged)).to.equal(Object.prototype);
    expect('polluted' in {}).to.equal(false);
  });
});
