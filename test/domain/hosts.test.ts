import { isIP } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { checkCors } from '../../src/adapters/http/access/cors.ts';
import { clientAddresses } from '../../src/adapters/http/client-address.ts';
import { normalizePublicUrl } from '../../src/adapters/http/target.ts';
import {
  isLoopback,
  isNetwork,
  isOrigin,
  isOriginPattern,
  isPlainUrl,
  isSafeUrl,
} from '../../src/domain/access/hosts.ts';
import { settingsTable } from '../../src/settings/settings.ts';

/** Each check, what it takes, what it refuses, and the part of HTTP that has to agree with it. */
const checks: readonly {
  readonly check: (text: string) => boolean;
  /** Texts with spaces between them. */
  readonly right: string;
  readonly wrong: string;
  readonly use?: (text: string) => unknown;
}[] = [
  {
    check: isLoopback,
    right:
      'localhost LocalHost localhost. api.localhost a.b.localhost. 127.0.0.1 127.255.0.9 ::1 [::1]',
    wrong:
      '0.0.0.0 :: 128.0.0.1 127.0.0.1.evil.org localhost.evil.org 1.127.0.0.1 xlocalhost .localhost',
  },
  {
    check: isNetwork,
    right: '10.0.0.1 10.0.0.0/8 255.255.255.255 0.0.0.1/32 ::1 fd00::/8 2001:db8::1/128',
    wrong:
      '10.0.0 10.0.0.256 01.2.3.4 10.0.0.0/0 10.0.0.0/08 10.0.0.0/33 ::/129 10.0.0.0/ x 1.2.3.4.',
    use: (text) => clientAddresses([text]),
  },
  {
    check: isOrigin,
    right:
      'https://a.b http://localhost:5173 http://[::1]:8080 capacitor://localhost tauri://localhost chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb moz-extension://4f2c-1',
    wrong:
      'null * a.b https://a.b/ https://a.b/x https://a.b:443 HTTPS://a.b https://*.a.b data:, file:// file:///x capacitor: capacitor:// CAPACITOR://localhost capacitor://localhost/',
  },
  {
    check: isOriginPattern,
    right: '* https://*.a.b http://*.a.localhost:5173 https://a.b capacitor://localhost',
    wrong:
      'null *.a.b https://* https://*.com https://a.*.b https://*.*.a.b https://*a.b https://*.a.b/ https://*.a.b:443 https://**.a.b capacitor://*',
    use: (text) => checkCors({ cors: [text], anonymous: [] }),
  },
  {
    check: isPlainUrl,
    right: 'https://a.b http://a.b:8080/backend/ https://a.b/x/y',
    wrong: 'a.b /x ftp://a.b https://u@a.b https://u:p@a.b https://a.b?x https://a.b#x',
    use: normalizePublicUrl,
  },
  {
    check: isSafeUrl,
    right: 'https://a.b/jwks http://127.0.0.1:9/jwks http://[::1]/ http://localhost/x',
    wrong: 'http://a.b/jwks http://localhost.evil.org ftp://localhost x',
  },
];

describe('hosts, URLs and networks in settings', () => {
  for (const { check, right, wrong, use } of checks) {
    it(`${check.name} accepts valid addresses only, like the HTTP adapter`, () => {
      for (const text of right.split(' ')) {
        expect(check(text), text).to.equal(true);
        use?.(text);
      }
      for (const text of ['', ...wrong.split(' ')]) {
        expect(check(text), text).to.equal(false);
        if (use !== undefined) expect(() => use(text), text).to.throw();
      }
    });
  }

  it('accept the same IP addresses as Node', () => {
    // Close to an address as often as not.
    const part = fc.constantFrom(
      ...'0 1 9 00 01 10 255 256 1.2.3.4 fe80 ffff FFFF 12345 g'.split(' '),
    );
    const [dots, colons] = [fc.constantFrom('.', '..', ''), fc.constantFrom(':', '::')];
    const text = (mark: fc.Arbitrary<string>, maxLength: number) =>
      fc.array(fc.tuple(part, mark), { maxLength }).map((all) => all.flat().slice(0, -1).join(''));
    const property = fc.property(
      fc.oneof(text(dots, 5), text(colons, 9), fc.ipV4(), fc.ipV6()),
      (one) => {
        expect(isNetwork(one), one).to.equal(isIP(one) > 0);
      },
    );
    fc.assert(property, { numRuns: 3000 });
  });

  it('accept comma-separated lists', () => {
    const { trustProxy, cors } = settingsTable;
    expect(trustProxy.parse('2')).to.equal(2);
    expect(trustProxy.parse('10.0.0.1, fd00::/8')).to.deep.equal(['10.0.0.1', 'fd00::/8']);
    expect(cors.parse('https://a.b,https://c.d')).to.deep.equal(['https://a.b', 'https://c.d']);
    for (const text of ['', '-1', '1.5', '10.0.0.1,', 'everybody']) {
      expect(trustProxy.parse(text), text).to.equal(undefined);
    }
    expect(cors.parse('https://a.b,null')).to.equal(undefined);
  });
});
