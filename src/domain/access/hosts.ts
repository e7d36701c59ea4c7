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

/**
 * True for an origin as a browser or the shell of an app writes it: `https://a.b`, `capacitor://localhost`. Not for
 * `null` or a pattern with `*`.
 */
export function isOrigin(text: string): boolean {
  // The URL standard gives an origin only to some schemes; apps send the scheme and the host of others.
  if (!/^https?:/.test(text)) return /^(?!file:)[a-z][a-z\d+.-]*:\/\/[\w.-]+(?::\d+)?$/.test(text);
  return URL.canParse(text) && !text.includes('*') && new URL(text).origin === text;
}

/** True for an origin, `*`, or a wildcard for the first label of a host: `https://*.preview.example`. */
export function isOriginPattern(text: string): boolean {
  const [, scheme, rest = ''] = /^(https?:\/\/)\*\.(.+)$/.exec(text) ?? [];
  // With a rest of one label, the owners of all domains below `com` would be allowed.
  const isWildcard = /^[^.]+\.[^.]/.test(rest) && isOrigin(scheme + rest);
  return text === '*' || isWildcard || isOrigin(text);
}

/** True if an origin matches a pattern; `null` matches none. */
export function matchesOrigin(origin: string, pattern: string): boolean {
  if (pattern === '*') return isOrigin(origin);
  if (pattern === origin) return true;
  const [start = '', end] = pattern.split('*');
  if (end === undefined || !origin.startsWith(start) || !origin.endsWith(end)) return false;
  return /^[\w-]+$/.test(origin.slice(start.length, -end.length));
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
