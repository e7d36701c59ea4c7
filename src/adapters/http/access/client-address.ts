import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, SocketAddress } from 'node:net';
import { isNetwork } from '../../../domain/addresses.ts';

/**
 * The proxies whose `X-Forwarded-For` counts: how many of them stand in front, or their addresses
 * and networks (`10.0.0.0/8`).
 */
export type TrustedProxies = number | readonly string[];

/** Finds the address of the client of a request; empty where its connection has none. */
export type ClientAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string;

/**
 * Finds the address of a client. What a proxy that is not trusted says is not looked at; each entry
 * of `X-Forwarded-For` is what the one behind it saw, so they are counted from the right.
 *
 * @throws TypeError for what is neither a number nor addresses
 */
export function clientAddresses(trusted: TrustedProxies = 0): ClientAddress {
  const isTrusted = typeof trusted === 'number' ? byCount(trusted) : byAddress(trusted);
  return (request) => {
    let client = plain(request.socket.remoteAddress ?? '') ?? '';
    const forwarded = trusted === 0 ? [] : forwardedFor(request);
    for (let hops = 0; isTrusted(client, hops); hops += 1) {
      const next = plain(forwarded.pop() ?? '');
      // Behind what cannot be read nothing counts any more.
      if (next === undefined) break;
      client = next;
    }
    return client;
  };
}

/**
 * What an address is limited by, as {@link clientAddresses} finds it: a client of IPv6 has a /64 at least,
 * and each of its addresses would have a limit of its own.
 */
export function limitedAs(address: string): string {
  return address.includes(':') ? network(address) : address;
}

function byCount(count: number): (address: string, hops: number) => boolean {
  if (!Number.isSafeInteger(count) || count < 0) {
    throw new TypeError('The number of trusted proxies must be a whole number from 0.');
  }
  return (_address, hops) => hops < count;
}

function byAddress(addresses: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const text of addresses) {
    if (!isNetwork(text)) {
      throw new TypeError(`"${text}" is not the address or the network of a proxy.`);
    }
    const [address = '', bits] = text.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) =>
    isIP(address) > 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function forwardedFor({ headers }: Pick<IncomingMessage, 'headers'>): string[] {
  const header = headers['x-forwarded-for'];
  return (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',');
}

/** An address without brackets, port and zone; one of IPv4 inside IPv6 as IPv4. */
function plain(text: string): string | undefined {
  if (isIP(text) === 4) return text; // Nearly all of them.
  const [, inner = text.trim()] =
    /^\[([^\]]*)\](?::\d+)?$/.exec(text.trim()) ?? /^([\d.]+):\d+$/.exec(text.trim()) ?? [];
  const [address = ''] = inner.split('%');
  if (isIP(address) !== 6) return isIP(address) === 4 ? address : undefined;
  // Of the many ways to write it, this gives the one with dots.
  const written = new SocketAddress({ address, family: 'ipv6' }).address;
  return /^::ffff:([\d.]+)$/.exec(written)?.[1] ?? written;
}

/** The /64 of an IPv6 address as `plain` writes it: without zeros in front of a group. */
function network(address: string): string {
  const halves = address.split('::').map((half) => half.split(':').filter(Boolean));
  const [front = [], back = []] = halves;
  const between = Array<string>(8 - front.length - back.length).fill('0');
  return `${[...front, ...between, ...back].slice(0, 4).join(':')}::/64`;
}
