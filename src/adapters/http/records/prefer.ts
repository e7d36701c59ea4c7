import { quotedString, token, unquoted } from '../headers/grammar.ts';
import type { Response } from '../response.ts';

/** What a client wants in the response to a write (RFC 7240, section 4.2). */
type Return = 'minimal' | 'representation';

/** A preference and its parameters, and the comma or the end behind it (RFC 7240, section 2). */
const preference = new RegExp(
  // No two runs of blanks meet: they could be told apart in as many ways as they have blanks.
  `[ \\t]*(${token})[ \\t]*(?:=[ \\t]*(?:(${token}|${quotedString})[ \\t]*)?)?` +
    `(?:;(?:[^,"]|${quotedString})*)?(?:,|$)`,
  'y',
);

/**
 * Reads `return` from `Prefer`. The first one counts; what cannot be read, and what is not known here, is
 * passed over, as the RFC wants.
 */
function preferredReturn(header: string | string[]): Return | undefined {
  const text = Array.isArray(header) ? header.join(',') : header;
  preference.lastIndex = 0;
  while (preference.lastIndex < text.length) {
    const [, name = '', value = ''] = preference.exec(text) ?? [];
    if (name === '') return undefined;
    if (name.toLowerCase() !== 'return') continue;
    const plain = unquoted(value);
    return plain === 'minimal' || plain === 'representation' ? plain : undefined;
  }
  return undefined;
}

/**
 * The response to a write in the form that the client prefers: with `return=minimal` without a
 * body, and 204 in place of 200.
 */
export function inPreferredForm(
  header: string | string[] | undefined,
  response: Response,
): Response {
  const preference = header === undefined ? undefined : preferredReturn(header);
  if (preference === undefined) return response;
  const { status, headers } = response;
  const applied = ['Preference-Applied', `return=${preference}`];
  if (preference === 'representation') return { ...response, headers: [...headers, ...applied] };
  return { status: status === 200 ? 204 : status, headers: [...headers, ...applied] };
}
