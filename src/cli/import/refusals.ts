import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import type { FieldIssue } from '../../domain/issues.ts';
import { grouped } from '../count.ts';
import { Failure } from '../failure.ts';
import { LineFile } from '../line-file.ts';
import { print, quoted } from '../output.ts';

/** A record that is refused, and all that is wrong with it. */
export interface Refusal {
  readonly place: string;
  readonly issues: readonly FieldIssue[];
  /** The record, as a transform made it. */
  readonly value?: unknown;
  /** What the file has. */
  readonly content: unknown;
}

/** How many refusals a terminal is shown, and how many characters of each. */
const [mostLines, longestLine] = [20, 500];

/** Collects what an import refuses: lines for people, and a report. */
export class Refusals implements Disposable {
  readonly #report: LineFile | undefined;
  readonly #lines: string[] = [];
  #more = 0;

  /** @param report the file for all refusals; replaces an earlier report */
  constructor(report: string | undefined) {
    this.#report = report === undefined ? undefined : new LineFile(report);
  }

  add(refusal: Refusal): void {
    const { place, issues, content } = refusal;
    this.#report?.add(JSON.stringify({ place, reasons: issues, content }));
    if (this.#lines.length < mostLines) this.#lines.push(lineOf(refusal));
    else this.#more += 1;
  }

  /** Prints the lines, and ends the report. */
  [Symbol.dispose](): void {
    const all = this.#report?.path ?? '--report FILE';
    if (this.#more > 0) this.#lines.push(`… and ${grouped(this.#more)} more; ${all} has all`);
    print(...this.#lines);
    this.#report?.[Symbol.dispose]();
  }
}

function lineOf({ place, issues, value }: Refusal): string {
  const reasons = issues.map((issue) => {
    const { pointer, code, message } = issue;
    return `${pointer} ${code}: ${message}${offending(issue, value)}`.trimStart();
  });
  const line = `${place} ${reasons.join(' ')}`;
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
}

/** The value that is wrong, as a sentence, if the message does not quote it. */
function offending({ pointer, message }: FieldIssue, record: unknown): string {
  const keys = pointer.split('/').slice(1);
  const value = keys.reduce<unknown>((part, key) => {
    return Object(part)[key.replaceAll('~1', '/').replaceAll('~0', '~')];
  }, record);
  if (keys.length === 0 || value === undefined || value === null) return '';
  return message.includes(quoted(value)) ? '' : ` It is ${quoted(value)}.`;
}

/**
 * Refuses the name of a report that is not JSON Lines, and of a file that is there and is no report.
 *
 * @throws Failure
 */
export function checkReportName(path: string): void {
  if (!/\.(?:jsonl|ndjson)$/i.test(path)) {
    throw new Failure(`--report writes JSON Lines: give it a name like bad.jsonl, not "${path}".`);
  }
  if (!existsSync(path)) return;
  const descriptor = openSync(path, 'r');
  const head = Buffer.alloc(64);
  const beginning = head.toString('utf8', 0, readSync(descriptor, head));
  closeSync(descriptor);
  if (/^$|^\{"place":"(?:line \d|users\[|posts\[)/.test(beginning)) return;
  throw new Failure(`The file ${path} exists: remove it, or choose another name.`);
}
