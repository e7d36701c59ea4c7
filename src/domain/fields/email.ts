import { textKey } from '../records/text.ts';

/**
 * HTML's grammar of a valid email address
 * (https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address), with `\p{L}\p{M}\p{N}`
 * in place of ASCII's letters and digits (RFC 6531, section 3.3).
 */
const address =
  /^[\p{L}\p{M}\p{N}.!#$%&'*+/=?^_`{|}~-]+@[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?(?:\.[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?)*$/u;

const asciiDomain = /^[a-z\d.-]*$/i;
const anyDomain = /^[\p{L}\p{M}\p{N}.-]*$/u;

/** Returns true for an email address whose domain is ASCII, or has A-labels (RFC 5890). */
export function isEmail(text: string): boolean {
  if (!address.test(text)) return false;
  const [local, domain] = split(text);
  if (asciiDomain.test(domain)) return true;
  const ascii = domainToAscii(domain);
  // Mapping can leave an empty label, a symbol, or a label of more than 63 characters.
  return ascii !== undefined && address.test(`${local}@${ascii}`);
}

/**
 * Returns the search key of an email address: two addresses with one key are the same address.
 *
 * It is the local part's {@link textKey}, `@`, and the domain as A-labels in lower case, by UTS 46
 * without its transitional mapping: `münchen.example` is `xn--mnchen-3ya.example`, and `faß.de` is
 * not `fass.de`. The key of a key is the key itself. A text that is not an address has a key that no
 * address has.
 */
export function emailKey(email: string): string {
  const [local, domain] = split(email);
  const ascii = domainToAscii(domain);
  return ascii === undefined ? textKey(email) : `${textKey(local)}@${ascii}`;
}

/**
 * Returns the common start of the keys of all email addresses that start with this text; undefined if
 * there is no such address.
 *
 * A prefix that ends inside a label with non-ASCII characters matches nothing: `a@münch` does
 * not find `a@münchen.example`, because the A-label of a part is not a part of the A-label.
 * `a@münchen.` and `a@xn--mn` find it.
 */
export function emailPrefixKey(prefix: string): string | undefined {
  if (!prefix.includes('@')) return textKey(prefix);
  const [local, domain] = split(prefix);
  const labelStart = domain.lastIndexOf('.') + 1;
  const label = domain.slice(labelStart);
  const labels = domainToAscii(domain.slice(0, labelStart));
  if (labels === undefined || !asciiDomain.test(label)) return undefined;
  return `${textKey(local)}@${labels}${label.toLowerCase()}`;
}

/** Returns the local part and the domain, which is empty without an `@`. */
function split(text: string): [local: string, domain: string] {
  const at = text.indexOf('@');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function domainToAscii(domain: string): string | undefined {
  if (asciiDomain.test(domain)) return domain.toLowerCase();
  if (!anyDomain.test(domain)) return undefined;
  // `URL` reads a host whose last label is a number as an IPv4 address; the label `x` prevents that.
  return URL.parse(`http://${domain}.x`)?.hostname.slice(0, -'.x'.length);
}
