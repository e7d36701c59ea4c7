/**
 * True for a name or an address of this machine that no other machine can reach, such as `localhost` and its
 * subdomains, with or without a final dot (RFC 6761, section 6.3).
 */
export function isLoopback(host: string): boolean {
  return /^(?:(?:[\w-]+\.)*localhost\.?|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}

/** True for an http or https URL without user, query and fragment. */
export function isPlainUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return false;
  return url.username + url.password + url.search + url.hash === '';
}

/** True for a URL whose responses cannot be changed on the way. */
export function isSafeUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
}

/** True for an origin as a browser writes it, but not for `null` or a pattern with `*`. */
export function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:[^*]+$/.test(text) && new URL(text).origin === text;
}

/** True for an IPv4 or IPv6 address, or a network of them such as `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  // `/0` would trust every client. To do that, an operator sets a number of proxies instead.
  const [, address = '', bits = '1'] = /^([\da-f.:]+)(?:\/([1-9]\d{0,2}))?$/i.exec(text) ?? [];
  if (ipv4.test(address)) return Number(bits) <= 32;
  // The only IP addresses with colons that a URL accepts are those of IPv6.
  return address.includes(':') && URL.canParse(`http://[${address}]/`) && Number(bits) <= 128;
}

const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
