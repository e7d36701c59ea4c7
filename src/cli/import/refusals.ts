import { closeSync, existsSync, openSync, readSync, renameSync } from 'node:fs';
import type { FieldIssue } from '../../domain/issues.ts';
import type { Collection } from '../../domain/record.ts';
import { grouped } from '../count.ts';
import { Failure } from '../failure.ts';
import { LineFile } from '../line-file.ts';
import { print, quoted } from '../output.ts';

/** A record that is refused, and all that is wrong with it. */
export interface Refusal {
  readonly list: Collection;
  readonly place: string;
  readonly issues: readonly FieldIssue[];
  /** The record, as a transform made it. */
  readonly value?: unknown;
  /** What the file has. */
  readonly content: unknown;
}

/** How many refusals a terminal is shown, how many issues of each, and in how many characters. */
const [mostLines, mostIssues, longestLine] = [20, 3, 500];

/** How many reasons are told apart: a file may have a wrong key of its own in every record. */
const mostReasons = 20;

/** Collects what an import refuses: lines for people, counts of reasons, and a report. */
export class Refusals implements Disposable {
  readonly #path: string | undefined;
  readonly #report: LineFile | undefined;
  readonly #counts = new Map<string, number>();
  #lines: string[] = [];
  #linesLeft = mostLines;
  #more = 0;

  /** @param report the file for all refusals; an earlier report becomes `FILE.old` */
  constructor(report: string | undefined) {
    this.#path = report;
    if (report === undefined) return;
    if (existsSync(report)) renameSync(report, `${report}.old`);
    this.#report = new LineFile(report);
  }

  add(refusal: Refusal): void {
    const { place, issues, content } = refusal;
    this.#report?.add(JSON.stringify({ place, reasons: issues, content }));
    for (const reason of issues.map(reasonOf)) {
      const isKnown = this.#counts.has(reason) || this.#counts.size < mostReasons;
      const counted = isKnown ? reason : 'other reasons';
      this.#counts.set(counted, (this.#counts.get(counted) ?? 0) + 1);
    }
    if (this.#linesLeft-- > 0) this.#lines.push(lineOf(refusal));
    else this.#more += 1;
  }

  /** The reasons, the most frequent first: `100 × /authorId unknown, 10 × /email taken`. */
  get reasons(): string {
    const sorted = [...this.#counts].sort(([, a], [, b]) => b - a);
    return sorted.map(([reason, count]) => `${grouped(count)} × ${reason}`).join(', ');
  }

  /** Prints what was added since the last time. */
  show(): void {
    if (this.#more > 0) {
      this.#lines.push(
        `… and ${grouped(this.#more)} more; ${this.#path ?? '--report FILE'} has all`,
      );
    }
    if (this.#lines.length > 0) print(...this.#lines);
    [this.#lines, this.#more] = [[], 0];
    this.#report?.flush();
  }

  [Symbol.dispose](): void {
    this.#report?.[Symbol.dispose]();
  }
}

/** `/email invalid`; the code alone of what is about the whole record. */
function reasonOf({ pointer, code }: FieldIssue): string {
  return `${pointer} ${code}`.trimStart();
}

function lineOf({ place, issues, value }: Refusal): string {
  const reasons = issues.slice(0, mostIssues).map((issue) => {
    return `${reasonOf(issue)}: ${issue.message}${offending(issue, value)}`;
  });
  const more = issues.length - reasons.length;
  const line = `${place} ${reasons.join(' ')}${more > 0 ? ` (and ${more} more reasons)` : ''}`;
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
