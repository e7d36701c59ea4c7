import { expect } from 'chai';
import { isEmail } from '../../src/domain/email.ts';
import { textKey } from '../../src/domain/text.ts';

describe('email addresses', () => {
  it('follow the grammar of HTML, with the letters of every script', () => {
    const right =
      "a@b ada@example.com o'neill+tag@sub.example.co.uk .dots..are.fine.@example.com " +
      `Größe@bücher.example 用户@例子.广告 a@${'x'.repeat(63)}.com`;
    for (const email of right.split(' ')) expect(isEmail(email), email).to.equal(true);
    const wrong = `a @b a@ a@-b a@b- a@b..c a@b. a@b_c "a"@b a@@b a@${'x'.repeat(64)}.com 😀@b`;
    for (const email of ['', 'a b@c', ' a@b', 'a@b ', 'a@b\n', ...wrong.split(' ')]) {
      expect(isEmail(email), email).to.equal(false);
    }
  });

  it('answers a hostile address in no time', () => {
    const hostile = `a@${'a-'.repeat(120)}!`;
    expect(isEmail(hostile)).to.equal(false);
  });

  it('have one key whatever their case and their normal form', () => {
    expect(textKey('ADA@Example.COM')).to.equal('ada@example.com');
    expect(textKey('JOSE\u0301@b')).to.equal(textKey('jos\u00e9@b'));
    expect(textKey('É@b')).to.equal('é@b');
    expect(textKey(textKey('İstanbul@b'))).to.equal(textKey('İstanbul@b'));
  });
});
