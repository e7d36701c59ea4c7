import { appendFileSync, createReadStream, existsSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { FieldIssue } from '../../domain/fields/issues.ts';
import { Failure } from '../failure.ts';
import { grouped, plain, print, quoted } from '../output.ts';
import type { ListRow } from './data-file.ts';

/** A row whose record is rejected. */
export type Rejection = Pick<ListRow, 'place' | 'content' | 'value'> & {
  readonly issues: readonly FieldIssue[];
};

/** How many rejected records are printed, and how many characters of each. */
const [mostLines, longestLine] = [20, 500];

/** How each line of a report begins. */
const lineStart = '{"place":';

/** @throws Failure for a file that is not empty and not an earlier report, because a report replaces it */
export async function checkReport(path: string): Promise<void> {
  const end = lineStart.length - 1;
  const start = existsSync(path) ? await text(createReadStream(path, { end })) : '';
  if (start === '' || start === lineStart) return;
  throw new Failure(`${path} exists and is not a report: choose another name for --report.`);
}

/**
 * Reports rejected records: all in a file, and the first ones on the terminal.
 *
 * @param path of a JSON Lines file. An earlier report is replaced.
 */
export function createReport(path: string | undefined) {
  if (path !== undefined) writeFileSync(path, '', { mode: 0o600 });
  let count = 0;
  return {
    add(rejection: Rejection): void {
      const { place, issues, content } = rejection;
      const line = JSON.stringify({ place, reasons: issues, content: plain(content) });
      if (path !== undefined) appendFileSync(path, `${line}\n`);
      count += 1;
      if (count <= mostLines) print(lineOf(rejection));
    },
    /** Says how many records have not been printed. */
    end(): void {
      const rest = grouped(count - mostLines);
      if (count > mostLines) print(`… and ${rest} more; ${path ?? '--report FILE'} has all`);
    },
  };
}

/** Returns the file or the title of a record, quoted; an empty text without either. */
export function labelOf({ content, value }: Pick<ListRow, 'content' | 'value'>): string {
  const [row, made] = [Object(content), Object(value)];
  const names = [row.file, made.title, row.title, made.name, row.name];
  const name = names.find((one) => typeof one === 'string' && one.trim() !== '');
  return name === undefined ? '' : quoted(name);
}

function lineOf(rejection: Rejection): string {
  const { place, issues, value } = rejection;
  const reasons = issues.map((issue) => {
    const { pointer, code, message } = issue;
    return `${pointer} ${code}: ${message}${offending(issue, value)}`.trimStart();
  });
  // Nobody can look up an index in a document or in a folder.
  const label = place.includes('[') ? labelOf(rejection) : '';
  const line = [place, label, ...reasons].filter(Boolean).join(' ');
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
}

/** A sentence that quotes the invalid value, unless the message quotes it already. */
function offending({ pointer, code, message }: FieldIssue, record: unknown): string {
  const keys = pointer.split('/').slice(1);
  const value = keys.reduce<unknown>((part, key) => Object(part)[key], record);
  if (keys.length === 0 || value === undefined || value === null) return '';
  if (message.includes(quoted(value))) return '';
  if (code !== 'type' || typeof value !== 'string') return ` It is ${quoted(value)}.`;
  return ` It is the text ${quoted(value)}: a transform can convert it.`;
}
