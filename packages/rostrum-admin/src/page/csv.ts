// Records as CSV (RFC 4180), for spreadsheets and for `rostrum import`.

import type { Item } from './fields.ts';

/** The fields that come first, where a record has them. */
const first = ['id', 'name', 'email', 'title', 'body', 'authorId', 'publishedAt'];

/** Without a byte order mark, Excel does not read UTF-8. */
const byteOrderMark = '\uFEFF';

/** Returns a line for each record, below the names of all their fields. */
export function csvOf(items: readonly Item[]): string {
  const present = new Set(items.flatMap(Object.keys));
  const names = [...new Set([...first, ...present])].filter((name) => present.has(name));
  const rows = items.map((item) => names.map((name) => cellOf(item[name])));
  const lines = [names.map(cellOf), ...rows].map((cells) => `${cells.join(',')}\r\n`);
  return byteOrderMark + lines.join('');
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return quoted(withoutFormula(value));
  if (typeof value !== 'object') return String(value);
  return quoted(withoutFormula(listOf(value)));
}

/** Returns a list such as `a, b`, or JSON where the import would read something else from a list. */
function listOf(value: object): string {
  const json = JSON.stringify(value);
  const list = Array.isArray(value) ? value.join(', ') : '';
  const texts = list.split(',').map((text) => text.trim());
  const isList = !texts.includes('') && !/^(?:[[{]|0000-00-00|(?:null|\\N)$)|"/i.test(list);
  return isList && JSON.stringify(texts) === json ? list : json;
}

/**
 * Keeps a spreadsheet from running a text as a formula, as OWASP advises. Full-width signs count as signs in
 * some of them. The import removes one `'` again, so a text that begins with one gets a second.
 */
const withoutFormula = (text: string) => (/^['=+\-@\t\r＝＋－＠]/.test(text) ? `'${text}` : text);

/** Quotes a cell also for its outer white space, which imports remove from cells without quotation marks. */
const quoted = (text: string) =>
  /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
