import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, SocketAddress } from 'node:net';
import { isNetwork } from '../../domain/access/hosts.ts';
import type { Context } from './context.ts';

/** The proxies whose `X-Forwarded-For` is trusted: their number, or their addresses and networks (`10.0.0.0/8`). */
export type TrustedProxies = number | readonly string[];

type RequestHead = Pick<IncomingMessage, 'headers' | 'socket'>;

/**
 * Returns a function that finds the client's address; empty if its connection has none. Each proxy appends to
 * `X-Forwarded-For` the address that it saw, so the entries of trusted proxies are counted from the right.
 *
 * @throws TypeError for a number below 0 or a text that is not an address
 */
export function clientAddresses(trusted: TrustedProxies = 0): (request: RequestHead) => string {
  const isTrusted = typeof trusted === 'number' ? byCount(trusted) : byAddress(trusted);
  return (request) => {
    let client = canonicalAddress(request.socket.remoteAddress ?? '') ?? '';
    if (trusted === 0) return client;
    const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',');
    for (let hops = 0; isTrusted(client, hops); hops += 1) {
      const next = canonicalAddress(forwarded.pop() ?? '');
      // An entry that is not an address ends the search.
      if (next === undefined) break;
      client = next;
    }
    return client;
  };
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

/** Strips brackets, port and zone, and unwraps IPv4 inside IPv6. */
function canonicalAddress(text: string): string | undefined {
  if (isIP(text) === 4) return text; // The usual case.
  const [, inner = text.trim()] =
    /^\[([^\]]*)\](?::\d+)?$/.exec(text.trim()) ?? /^([\d.]+):\d+$/.exec(text.trim()) ?? [];
  const [address = ''] = inner.split('%');
  if (isIP(address) !== 6) return isIP(address) === 4 ? address : undefined;
  // The canonical form, with dots for IPv4 inside IPv6.
  const written = new SocketAddress({ address, family: 'ipv6' }).address;
  return /^::ffff:([\d.]+)$/.exec(written)?.[1] ?? written;
}

/**
 * Returns the key by which an address is limited. An IPv6 client has at least a /64 of addresses, which count
 * as one.
 */
export function rateLimitKey(address: string): string {
  if (!address.includes(':')) return address;
  const halves = address.split('::').map((half) => half.split(':').filter(Boolean));
  const [front = [], back = []] = halves;
  const between = Array<string>(8 - front.length - back.length).fill('0');
  return `${[...front, ...between, ...back].slice(0, 4).join(':')}::/64`;
}

/** Returns the key of the client for which a request counts: the caller, or else the address. */
export function clientKey({ state: { rostrum } }: Context): string {
  // The space keeps addresses apart from callers' names.
  return rostrum.authenticatedCaller?.name ?? ` ${rateLimitKey(rostrum.address)}`;
}
