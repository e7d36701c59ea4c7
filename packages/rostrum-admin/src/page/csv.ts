// Records as CSV (RFC 4180), for spreadsheets.

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
  if (typeof value === 'object') return quoted(JSON.stringify(value));
  return typeof value === 'string' ? quoted(withoutFormula(value)) : String(value);
}

/**
 * Keeps a spreadsheet from running a text as a formula, as OWASP advises. Full-width signs count as signs in
 * some of them.
 */
const withoutFormula = (text: string) => (/^[=+\-@\t\r＝＋－＠]/.test(text) ? `'${text}` : text);

const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
