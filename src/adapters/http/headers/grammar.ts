// Pieces of the grammar of headers (RFC 9110, section 5.6), as sources of regular expressions.

export const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";

export const quotedString = String.raw`"(?:[^"\\]|\\.)*"`;

/** What a token or a quoted string says. */
export function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value;
}

/** An IPv6 address or a later one in brackets, or a name (RFC 3986, section 3.2.2), and a port. */
const host =
  /^(?:\[(?:[\da-f:.]+|v[\da-f]+\.[\w\-.~!$&'()*+,;=:]+)\]|(?:[\w\-.~!$&'()*+,;=]|%[\da-f]{2})*)(?::(\d*))?$/i;

/** True for what `Host` may be (RFC 9110, section 7.2): the empty text is one. */
export function isHost(text: string): boolean {
  const [whole, port = ''] = host.exec(text) ?? [];
  return whole !== undefined && Number(port) <= 65_535;
}
