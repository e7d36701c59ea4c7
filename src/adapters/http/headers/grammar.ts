// Pieces of the grammar of headers (RFC 9110, section 5.6), as sources of regular expressions.

export const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";

export const quotedString = String.raw`"(?:[^"\\]|\\.)*"`;

/** Returns the value of a token or a quoted string. */
export function unquote(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value;
}
