import { appendFileSync, closeSync, existsSync, openSync, readSync, writeFileSync } from 'node:fs';
import type { FieldIssue } from '../../domain/issues.ts';
import { grouped } from '../count.ts';
import { Failure } from '../failure.ts';
import { print, quoted } from '../output.ts';

/** A rejected record. */
export interface Rejection {
  readonly place: string;
  readonly issues: readonly FieldIssue[];
  /** The record that was rejected. */
  readonly value?: unknown;
  /** The row of the file that the record was made from. */
  readonly content: unknown;
}

/** How many rejected records are printed, and how many characters of each. */
const [mostLines, longestLine] = [20, 500];

/** How each line of a report begins. */
const lineStart = '{"place":';

/** @throws Failure for a file that is not empty and not an earlier report, because a report replaces it */
export function checkReport(path: string): void {
  if (!existsSync(path)) return;
  const file = openSync(path, 'r');
  const start = Buffer.alloc(lineStart.length);
  const length = readSync(file, start);
  closeSync(file);
  if (length === 0 || start.toString() === lineStart) return;
  throw new Failure(`${path} exists and is not a report: choose another name for --report.`);
}

/** Collects rejected records: all in the report, and the first ones for the terminal. */
export class Rejections {
  readonly #report: string | undefined;
  readonly #lines: string[] = [];
  #more = 0;

  /** @param report the path of a JSON Lines file. An earlier report is replaced. */
  constructor(report: string | undefined) {
    this.#report = report;
    if (report !== undefined) writeFileSync(report, '', { mode: 0o600 });
  }

  add(rejection: Rejection): void {
    const { place, issues, content } = rejection;
    const line = JSON.stringify({ place, reasons: issues, content });
    if (this.#report !== undefined) appendFileSync(this.#report, `${line}\n`);
    if (this.#lines.length < mostLines) this.#lines.push(lineOf(rejection));
    else this.#more += 1;
  }

  print(): void {
    const all = this.#report ?? '--report FILE';
    const more = `… and ${grouped(this.#more)} more; ${all} has all`;
    print(...this.#lines, ...(this.#more > 0 ? [more] : []));
  }
}

function lineOf({ place, issues, value }: Rejection): string {
  const reasons = issues.map((issue) => {
    const { pointer, code, message } = issue;
    return `${pointer} ${code}: ${message}${offending(issue, value)}`.trimStart();
  });
  const line = `${place} ${reasons.join(' ')}`;
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
}

/** A sentence that quotes the invalid value, unless the message quotes it already. */
function offending({ pointer, message }: FieldIssue, record: unknown): string {
  const keys = pointer.split('/').slice(1);
  const value = keys.reduce<unknown>((part, key) => Object(part)[key], record);
  if (keys.length === 0 || value === undefined || value === null) return '';
  return message.includes(quoted(value)) ? '' : ` It is ${quoted(value)}.`;
}
