/**
 * HTML's grammar of a valid email address
 * (https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address), with `\p{L}\p{M}\p{N}`
 * in place of ASCII's letters and digits (RFC 6531, section 3.3).
 */
const address =
  /^[\p{L}\p{M}\p{N}.!#$%&'*+/=?^_`{|}~-]+@[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?(?:\.[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?)*$/u;

export function isEmail(text: string): boolean {
  return address.test(text);
}

/** Placeholder until the text branch is merged. */
export function emailKey(email: string): string {
  return email.normalize('NFC').toLowerCase().normalize('NFC');
}

export function emailPrefixKey(prefix: string): string | undefined {
  return emailKey(prefix);
}
