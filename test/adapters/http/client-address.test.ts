import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import {
  clientAddresses,
  rateLimitKey,
  type TrustedProxies,
} from '../../../src/adapters/http/client-address.ts';

/** The address of a client whose request came from `remote` with this `X-Forwarded-For`. */
function addressOf(
  trusted: TrustedProxies | undefined,
  remote: string,
  forwarded?: string,
): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  const request = { headers, socket: { remoteAddress: remote } };
  return clientAddresses(trusted)(request as unknown as IncomingMessage);
}

describe('the client address', () => {
  it('is the address of the connection if the proxy is not trusted', () => {
    expect(addressOf(undefined, '192.0.2.1', '198.51.100.7')).to.equal('192.0.2.1');
    expect(addressOf([], '192.0.2.1', '198.51.100.7')).to.equal('192.0.2.1');
    expect(addressOf(['10.0.0.1'], '192.0.2.1', '198.51.100.7')).to.equal('192.0.2.1');
  });

  it('is read from the right of X-Forwarded-For, so clients cannot forge it on the left', () => {
    const forwarded = '1.1.1.1, 198.51.100.7, 10.0.0.2';
    expect(addressOf(0, '10.0.0.1', forwarded)).to.equal('10.0.0.1');
    expect(addressOf(1, '10.0.0.1', forwarded)).to.equal('10.0.0.2');
    expect(addressOf(2, '10.0.0.1', forwarded)).to.equal('198.51.100.7');
    expect(addressOf(['10.0.0.0/8'], '10.0.0.1', forwarded)).to.equal('198.51.100.7');
    expect(addressOf(['10.0.0.1'], '10.0.0.1', forwarded)).to.equal('10.0.0.2');
    expect(addressOf(['fd00::/8', '10.0.0.2'], 'fd00::1', forwarded)).to.equal('198.51.100.7');
    expect(addressOf(9, '10.0.0.1', '198.51.100.7')).to.equal('198.51.100.7');
  });

  it('is the last trusted proxy if the next entry of X-Forwarded-For is not an IP address', () => {
    for (const forwarded of ['', ' , ', 'unknown', '1.2.3', '198.51.100.7, _hidden', undefined]) {
      expect(addressOf(2, '10.0.0.1', forwarded), forwarded).to.equal('10.0.0.1');
    }
    expect(addressOf(2, '10.0.0.1', '198.51.100.7:4711')).to.equal('198.51.100.7');
    expect(addressOf(2, '10.0.0.1', '[2001:db8::1]:4711')).to.equal('2001:db8::1');
  });

  it('is rate-limited as a /64 network for IPv6, in every notation', () => {
    const one = [
      ...[
        '2001:db8:1:2::',
        '2001:db8:1:2::1',
        '2001:DB8:1:2:ffff::',
        '2001:0db8:0001:0002::5%eth0',
      ],
      ...['2001:db8:1:2:3:4:5:6', '2001:db8:1:2:3:4:1.2.3.4'],
    ];
    for (const address of one) {
      expect(rateLimitKey(addressOf(0, address)), address).to.equal('2001:db8:1:2::/64');
    }
    for (const [address, network] of [
      ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
      ['1::3:4:5:6:7', '1:0:0:3::/64'],
      ['::1', '0:0:0:0::/64'],
      ['2001::1.2.3.4', '2001:0:0:0::/64'],
    ] as const) {
      expect(rateLimitKey(addressOf(0, address))).to.equal(network);
    }
    expect(rateLimitKey('192.0.2.1')).to.equal('192.0.2.1');
  });

  it('is converted to IPv4 if IPv4-mapped, and loses its zone', () => {
    for (const address of [
      ...['::ffff:192.0.2.1', '::FFFF:c000:201', '0:0:0:0:0:ffff:192.0.2.1'],
      ...['0000::ffff:c000:0201', '[::ffff:c000:201]:4711'],
    ]) {
      expect(addressOf(0, address), address).to.equal('192.0.2.1');
      expect(addressOf(1, '10.0.0.1', address), address).to.equal('192.0.2.1');
    }
    expect(addressOf(0, '::192.0.2.1')).to.equal('::192.0.2.1');
    expect(addressOf(0, 'fe80::5%eth0')).to.equal('fe80::5');
  });

  it('throws a TypeError for invalid trusted proxies', () => {
    for (const wrong of [-1, 1.5, Number.NaN, ['x']]) {
      expect(() => clientAddresses(wrong), String(wrong)).to.throw(TypeError);
    }
  });
});
