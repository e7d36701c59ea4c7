import { expect } from 'chai';
import fc from 'fast-check';
import { findJsonError } from '../../../../src/adapters/http/request/json-error.ts';

describe('finding where a text stops being JSON', () => {
  /** The text, without the mark that stands where it stops. */
  for (const marked of [
    '{"name": ^Ada}',
    '{^name: "Ada"}',
    "{^'name': 1}",
    '{"a": 1,^}',
    '[1,^]',
    '{"a" ^1}',
    '{"a": 1 ^"b": 2}',
    '{"a": ^tru}',
    '{"a": 0^1}',
    '{"a": ^.5}',
    '{"a": "x^\ny"}',
    '{"a": "x^\\q"}',
    '{"a": "x^\\u12"}',
    '{"a": [1, {"b": 2^]}',
    '{}^{}',
    '{"a": 1}^}',
    '[^,1]',
    '{"a": 1^',
    '{"a": "x\u007f\u0080é^',
    '{"a":^',
    '^',
  ]) {
    it(`in ${JSON.stringify(marked)}`, () => {
      const [before = ''] = marked.split('^');
      const text = marked.replace('^', '');
      expect(() => JSON.parse(text)).to.throw(SyntaxError);
      expect(findJsonError(text)).to.equal(before.length);
    });
  }

  it('where JSON.parse says it, too', () => {
    const junk = fc.constantFrom('', ',', ':', '"', '}', ']', '{', '[', '\u0001', ' x');
    let said = 0;
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.nat(2), junk, (json, place, removed, added) => {
        const at = place % (json.length + 1);
        const text = json.slice(0, at) + added + json.slice(at + removed);
        try {
          JSON.parse(text);
        } catch (error) {
          const { message } = error as SyntaxError;
          const [, position] =
            /^(?:Expected|Unterminated string|Bad control).* at position (\d+)/.exec(message) ?? [];
          if (position === undefined) return;
          said += 1;
          expect(findJsonError(text), text).to.equal(Number(position));
        }
      }),
      { numRuns: 5000 },
    );
    expect(said).to.be.above(500);
  });

  it('in a text of a mebibyte, of one token or of many', () => {
    const size = 1024 * 1024;
    for (const text of [`"${'x'.repeat(size)}`, `"${'\\n'.repeat(size / 2)}`, '['.repeat(size)]) {
      expect(findJsonError(text)).to.equal(text.length);
    }
    expect(findJsonError(`${'1'.repeat(size)}x`)).to.equal(size);
  });
});
