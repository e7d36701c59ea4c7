import { expect } from 'chai';
import fc from 'fast-check';
import { findDuplicateKey } from '../../src/domain/duplicate-keys.ts';

describe('finding duplicate keys', () => {
  it('finds none in the output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (text) => {
        expect(findDuplicateKey(text)).to.equal(undefined);
      }),
    );
  });

  it('finds a planted duplicate at any depth, however it is escaped', () => {
    const key = fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(key, fc.jsonValue(), fc.jsonValue(), fc.nat(5), (name, a, b, depth) => {
        const escaped = [...Array(name.length).keys()]
          .map((i) => `\\u${name.charCodeAt(i).toString(16).padStart(4, '0')}`)
          .join('');
        const pair = `{"${escaped}":${JSON.stringify(a)}, ${JSON.stringify(name)} :${JSON.stringify(b)}}`;
        const text = `${'[{"k":'.repeat(depth)}${pair}${'}]'.repeat(depth)}`;
        // Where a value of its own is an object, that is scanned first and has none.
        expect(findDuplicateKey(text)).to.equal(name);
      }),
    );
  });
});
