import { expect } from 'chai';
import fc from 'fast-check';
import { foldCase } from '../../src/domain/records/case-folding.ts';
import {
  codePoints,
  compareText,
  isCleanText,
  normalizedText,
  prefixSpan,
  textKey,
  utf8Bytes,
} from '../../src/domain/records/text.ts';

const wellFormed = fc.string({ unit: 'binary' });
const characters = Array.from({ length: 0x110000 }, (_, point) => point)
  .filter((point) => point < 0xd800 || point > 0xdfff)
  .map((point) => String.fromCodePoint(point));

/** Text in which most characters fold, compose or change places with others. */
const folding = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...characters.filter((character) => foldCase(character) !== character)),
    fc.constantFrom(...characters.filter((character) => /\p{M}/u.test(character))),
    fc.constantFrom('\u0345', '\u0301', '\u0308', '\u0323', '\u0307', 'α', 'Η', 'ω', 'ſ', 'j', 'i'),
  ),
  maxLength: 12,
});

describe('text', () => {
  it('counts code points, and a lone surrogate as one', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\ud83d', '\ude00') });
    fc.assert(fc.property(text, (it) => codePoints(it) === [...it].length));
    expect(codePoints('😀😀')).to.equal(2);
    expect(codePoints('\ud83d')).to.equal(1);
    expect(codePoints('\ude00\ud83d')).to.equal(2);
  });

  it('counts bytes of UTF-8', () => {
    const repeats = fc.integer({ min: 1, max: 5000 }); // About half of the texts do not fit into its array.
    const texts = fc.tuple(wellFormed, repeats).map(([text, count]) => text.repeat(count));
    fc.assert(fc.property(texts, (text) => utf8Bytes(text) === Buffer.byteLength(text)));
  });

  it('orders by code point, as UTF-8 orders its bytes', () => {
    const near = fc.string({
      unit: fc.constantFrom('a', 'é', '\ud7ff', '～', '\uffff', '𐀀', '😀', '😁'),
    });
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

  it('has the same key in every case and normal form', () => {
    const greek = textKey('\u03bd\u03af\u03ba\u03bf\u03c2');
    for (const text of ['\u039d\u0399\u0301\u039a\u039f\u03a3', '\u03bd\u03af\u03ba\u03bf\u03c3']) {
      expect(textKey(text)).to.equal(greek);
    }
    expect(textKey('STRASSE')).to.equal(textKey('straße'));
    expect(textKey('JOSE\u0301')).to.equal(textKey('josé'));
    expect(textKey('ΝΙΚΟΣΤΡΑΤΟΣ')).to.satisfy((key: string) => key.startsWith(textKey('ΝΙΚΟΣ')));
    expect(textKey('İ')).to.equal('i\u0307');
    expect(textKey('I')).to.equal('i');
  });

  it('has an idempotent search key', () => {
    const changed = characters.filter(
      (character) => textKey(textKey(character)) !== textKey(character),
    );
    expect(changed).to.deep.equal([]);
    fc.assert(
      fc.property(folding, (text) => textKey(textKey(text)) === textKey(text)),
      { numRuns: 2000 },
    );
  });

  it('has an NFC key that depends on its normal form only', () => {
    fc.assert(
      fc.property(folding, (text) => {
        const forms = ['NFC', 'NFD'].map((form) => textKey(text.normalize(form)));
        return forms.every((key) => key === textKey(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('compares names and titles in NFC', () => {
    expect(normalizedText('E\u0301mile')).to.equal('Émile').and.not.equal(normalizedText('émile'));
  });

  it('is not clean with NUL or a lone surrogate', () => {
    expect(isCleanText('a\0b')).to.equal(false);
    expect(isCleanText('\ud800')).to.equal(false);
    expect(isCleanText('\uffff😀')).to.equal(true);
  });
});
