import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { sha256 } from '../../src/domain/sha256.ts';

describe('sha256', () => {
  const expected = (text: string) => createHash('sha256').update(text).digest('hex');

  it('is the digest of the UTF-8 of every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(sha256(text)).to.equal(expected(text));
      }),
    );
    expect(sha256('a\ud800b')).to.equal(expected('a\ufffdb'));
  });

  it('holds at every length around a block', () => {
    for (let length = 0; length <= 130; length++) {
      expect(sha256('x'.repeat(length)), `${length}`).to.equal(expected('x'.repeat(length)));
    }
  });
});
