import {
  closeSync,
  existsSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import type { FieldIssue } from '../../domain/issues.ts';
import { isPlainObject } from '../../domain/json.ts';
import { Failure } from '../failure.ts';
import type { DataFile } from './data-file.ts';
import type { Refusal } from './list-import.ts';
import { reasonOf } from './refusals.ts';

/** How many characters wait to be written. */
const gathered = 64 * 1024;

/** What a report begins with, in either format. */
const beginning =
  /^(?:refused_place,refused_reasons|\{"place":"(?:line \d+|(?:users|posts)\[\d+\])","reasons":\[)/;

/**
 * Refuses the name of a file that is neither CSV nor JSON Lines, and of a file that is there and is no
 * report.
 *
 * @param input the file that is imported
 * @throws Failure
 */
export function checkReportName(path: string, input: string): void {
  if (!/\.(csv|jsonl|ndjson)$/i.test(path)) {
    throw new Failure(`--report "${path}" is not named like bad.csv or bad.jsonl.`);
  }
  const there = statSync(path, { throwIfNoEntry: false });
  if (there === undefined) return;
  const imported = statSync(input, { throwIfNoEntry: false });
  const isInput = imported?.ino === there.ino && imported.dev === there.dev;
  if (isInput || !there.isFile() || (there.size > 0 && !isReport(path))) {
    throw new Failure(`The file ${path} exists: remove it, or choose another name.`);
  }
}

function isReport(path: string): boolean {
  const descriptor = openSync(path, 'r');
  try {
    const head = Buffer.alloc(64);
    return beginning.test(head.toString('utf8', 0, readSync(descriptor, head)));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Every record that is refused, with its place, the reasons, and what the file has. Of a CSV file it has
 * the columns, so that rows can be mended and imported.
 */
export class ReportFile implements Disposable {
  readonly #descriptor: number;
  readonly #file: DataFile;
  readonly #isCsv: boolean;
  #text = '';
  #isEmpty = true;

  /**
   * @param path the file to write; an earlier report becomes `FILE.old`, as its rows may be mended there
   * @param file whose records they are
   */
  constructor(path: string, file: DataFile) {
    if (existsSync(path)) renameSync(path, `${path}.old`);
    this.#descriptor = openSync(path, 'w');
    this.#isCsv = /\.csv$/i.test(path);
    this.#file = file;
  }

  add(refusal: Refusal): void {
    if (this.#isCsv) this.#begin();
    const { place, issues: reasons, content } = refusal;
    this.#text += this.#isCsv
      ? row([place, reasonsText(reasons), ...this.#cells(content)])
      : `${JSON.stringify({ place, reasons, content })}\n`;
    if (this.#text.length > gathered) this.flush();
  }

  [Symbol.dispose](): void {
    if (this.#isCsv) this.#begin();
    this.flush();
    closeSync(this.#descriptor);
  }

  /** The first row. The columns are known once a row has been read. */
  #begin(): void {
    if (!this.#isEmpty) return;
    this.#isEmpty = false;
    const { columns = ['refused_content'] } = this.#file;
    this.#text += row(['refused_place', 'refused_reasons', ...columns]);
  }

  #cells(content: unknown): readonly string[] {
    const { columns } = this.#file;
    if (columns === undefined) {
      return [typeof content === 'string' ? content : JSON.stringify(content)];
    }
    if (Array.isArray(content)) return content;
    const cells = isPlainObject(content) ? content : {};
    return columns.map((name) => (Object.hasOwn(cells, name) ? String(cells[name]) : ''));
  }

  /** Writes what waits, so that the file has what was added. */
  flush(): void {
    const bytes = Buffer.from(this.#text);
    this.#text = '';
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at);
  }
}

/** `/email invalid: Must be an address.`, a line each. */
function reasonsText(reasons: readonly FieldIssue[]): string {
  return reasons.map((issue) => `${reasonOf(issue)}: ${issue.message}`).join('\n');
}

/** A row of CSV (RFC 4180). */
function row(cells: readonly string[]): string {
  const quoted = cells.map((cell) => {
    return /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  });
  return `${quoted.join(',')}\n`;
}
