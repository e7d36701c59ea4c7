import { quotedString, token, unquote } from './grammar.ts';

/** The form of the response to a write (RFC 7240, section 4.2). */
type Return = 'minimal' | 'representation';

/** A preference with its parameters, and the comma or the end after it (RFC 7240, section 2). */
const preference = new RegExp(
  // Runs of blanks are never adjacent: two could be split in many ways, and matching would become quadratic.
  `[ \\t]*(${token})[ \\t]*(?:=[ \\t]*(?:(${token}|${quotedString})[ \\t]*)?)?` +
    `(?:;(?:[^,"]|${quotedString})*)?(?:,|$)`,
  'y',
);

/**
 * Returns the value of `return` in `Prefer`. The first one counts. Malformed and unknown preferences are
 * ignored, as the RFC requires.
 */
export function preferredReturn(header: string | string[] = ''): Return | undefined {
  const text = Array.isArray(header) ? header.join(',') : header;
  preference.lastIndex = 0;
  while (preference.lastIndex < text.length) {
    const [, name = '', value = ''] = preference.exec(text) ?? [];
    if (name === '') return undefined;
    if (name.toLowerCase() !== 'return') continue;
    const plain = unquote(value);
    return plain === 'minimal' || plain === 'representation' ? plain : undefined;
  }
  return undefined;
}
