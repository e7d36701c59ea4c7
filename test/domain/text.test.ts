import { expect } from 'chai';
import fc from 'fast-check';
import {
  codePoints,
  compareText,
  isCleanText,
  prefixSpan,
  textKey,
  utf8Bytes,
} from '../../src/domain/text.ts';

const anyText = fc.string({ unit: 'binary' });
const wellFormed = fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed());

describe('text', () => {
  it('counts code points, and a lone surrogate as one', () => {
    fc.assert(fc.property(anyText, (text) => codePoints(text) === [...text].length));
    expect(codePoints('😀😀')).to.equal(2);
    expect(codePoints('\ud83d')).to.equal(1);
    expect(codePoints('\ude00\ud83d')).to.equal(2);
  });

  it('counts bytes of UTF-8', () => {
    fc.assert(fc.property(wellFormed, (text) => utf8Bytes(text) === Buffer.byteLength(text)));
  });

  it('orders by code point, as UTF-8 orders its bytes', () => {
    const near = fc.string({ unit: fc.constantFrom('a', 'é', '\ud7ff', '～', '\uffff', '😀') });
    fc.assert(
      fc.property(near, near, (a, b) => {
        const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
        return Math.sign(compareText(a, b)) === bytes;
      }),
    );
    expect(compareText('～', '😀')).to.be.below(0);
  });

  it('spans the texts that begin with another one', () => {
    const near = fc.string({ unit: fc.constantFrom('a', 'b', '\ud7ff', '\ue000', '\u{10ffff}') });
    fc.assert(
      fc.property(near, near, (text, prefix) => {
        const { from, before } = prefixSpan(prefix);
        const isBefore = before === undefined || compareText(text, before) < 0;
        return (compareText(text, from) >= 0 && isBefore) === text.startsWith(prefix);
      }),
    );
    expect(prefixSpan('\u{10ffff}')).to.deep.equal({ from: '\u{10ffff}' });
  });

  it('has a key that is its own key', () => {
    fc.assert(fc.property(wellFormed, (text) => textKey(textKey(text)) === textKey(text)));
  });

  it('orders halves of surrogate pairs by their own code points', () => {
    const odd = fc.string({ unit: fc.constantFrom('a', '\ud83d', '\ude00', '\ue000', '😀') });
    const points = (text: string) => [...text].map((character) => character.codePointAt(0) ?? 0);
    const byPoints = (a: readonly number[], b: readonly number[]): number => {
      const at = a.findIndex((point, i) => point !== b[i]);
      return at < 0 ? a.length - b.length : (a[at] ?? 0) - (b[at] ?? -1);
    };
    fc.assert(
      fc.property(
        odd,
        odd,
        (a, b) => Math.sign(compareText(a, b)) === Math.sign(byPoints(points(a), points(b))),
      ),
    );
  });

  it('takes NUL and lone surrogates for unclean', () => {
    expect(isCleanText('a\0b')).to.equal(false);
    expect(isCleanText('\ud800')).to.equal(false);
    expect(isCleanText('\uffff😀')).to.equal(true);
  });
});
