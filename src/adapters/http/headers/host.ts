/** An IPv6 address or a later one in brackets, or a name (RFC 3986, section 3.2.2), and a port. */
const host =
  /^(?:\[(?:[\da-f:.]+|v[\da-f]+\.[\w\-.~!$&'()*+,;=:]+)\]|(?:[\w\-.~!$&'()*+,;=]|%[\da-f]{2})*)(?::\d*)?$/i;

/** True for what `Host` may be (RFC 9110, section 7.2): the empty text is one. */
export function isHost(text: string): boolean {
  return host.test(text);
}
