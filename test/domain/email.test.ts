import { expect } from 'chai';
import fc from 'fast-check';
import { emailKey, emailPrefixKey, isEmail } from '../../src/domain/fields/email.ts';
import { textKey } from '../../src/domain/records/text.ts';

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

  it('check a hostile address in linear time', () => {
    const hostile = `a@${'a-'.repeat(120)}!`;
    expect(isEmail(hostile)).to.equal(false);
  });

  it('are rejected if the domain has no A-labels', () => {
    // A digit with a full stop, a symbol, an empty label, a Hebrew label that starts with a digit, an
    // invalid A-label, and one of more than 63 characters.
    const wrong = ['⒈', '⑴', '\ufe0f', '1\u05d0', 'é.xn--zz-é', `xxxxx${'é'.repeat(58)}`];
    for (const domain of wrong) expect(isEmail(`a@${domain}.example`), domain).to.equal(false);
  });

  it('have one key for every case, normal form, and spelling of the domain', () => {
    const same = [
      ['ada@example.com', 'ADA@Example.COM'],
      ['josé@b', 'JOSE\u0301@B'],
      ['νικος.π@example.gr', 'ΝΙΚΟΣ.Π@example.gr'],
      ['u@münchen.example', 'U@MU\u0308NCHEN.example', 'u@xn--mnchen-3ya.example'],
      ['straße@b', 'STRASSE@b'],
      ['a@123', 'a@１２３'],
    ];
    for (const [first = '', ...others] of same) {
      for (const other of others) expect(emailKey(other)).to.equal(emailKey(first));
    }
    expect(emailKey('u@münchen.example')).to.equal('u@xn--mnchen-3ya.example');
  });

  it('keep ß in a domain, because ss is another domain', () => {
    expect(emailKey('a@faß.de')).to.equal('a@xn--fa-hia.de');
    expect(emailKey('a@fass.de')).to.equal('a@fass.de');
  });

  it('keep a domain of digits, which URL reads as an IPv4 address', () => {
    expect(emailKey('a@123')).to.equal('a@123');
    expect(emailKey('a@1.2.é')).to.equal('a@1.2.xn--9ca');
  });

  const unit = fc.constantFrom(...'aZé.ßΣς1-@مא\u0301\u0323');

  it('have a key that is its own key, and is the sort key', () => {
    fc.assert(
      fc.property(fc.string({ unit }), fc.string({ unit }), (local, domain) => {
        const key = emailKey(`${local}@${domain}`);
        return !isEmail(`${local}@${domain}`) || (emailKey(key) === key && textKey(key) === key);
      }),
      { numRuns: 5000 },
    );
  });

  it('never share a key with a text that is not an address', () => {
    for (const text of ['ada', 'a@', 'a@b/ö', 'a@b?ö@c', 'a@b_ö', 'ö@c@b', 'a@b:80ö', '']) {
      expect(isEmail(emailKey(text)), text).to.equal(false);
    }
  });

  it('are found by a prefix whose last label is ASCII', () => {
    const key = emailKey('Ünal@münchen.example');
    for (const prefix of [
      '',
      'ü',
      'ÜNAL',
      'ünal@',
      'ünal@xn--mn',
      'ünal@MÜNCHEN.',
      'ünal@münchen.Ex',
    ]) {
      expect(key.startsWith(emailPrefixKey(prefix) ?? '-'), prefix).to.equal(true);
    }
    for (const prefix of ['ünal@m', 'ünal@münchen.org', 'nal', 'ünal@münchen.example.']) {
      expect(key.startsWith(emailPrefixKey(prefix) ?? '-'), prefix).to.equal(false);
    }
    expect(emailPrefixKey('ünal@münch')).to.equal(undefined);
    expect(emailPrefixKey('a@faß.de')).to.equal('a@xn--fa-hia.de');
    expect(emailPrefixKey('a@é.xn--')).to.equal('a@xn--9ca.xn--');
    expect(emailPrefixKey('a@é/.b')).to.equal(undefined);
  });
});
