import { pipeline, Readable } from 'node:stream';
import type { CastingContext } from 'csv-parse';
import { Failure } from '../failure.ts';
import { counted, quoted } from '../output.ts';
import type { FileRow, Text } from './text.ts';

/** In characters. No record is that long, and the regular expressions below overflow at 16 million. */
const longestRow = 4 * 1024 * 1024;

const lineBreak = /\r\n|\n|\r/;

/**
 * Reads rows of CSV (RFC 4180) as objects with the headings as keys. Leaves out empty rows and columns.
 * A malformed row has a `problem`.
 *
 * @throws Failure for equal headings, and for a quotation mark that is never closed
 */
export async function* readCsv(text: Text, delimiter: string): AsyncGenerator<FileRow> {
  const { name, head, pieces } = text;
  // csv-parse is an optional peer.
  const { CsvError, parse } = await import('csv-parse');
  const end = `\\u{${(delimiter.codePointAt(0) ?? 0).toString(16)}}`;
  const cell = `(?:"[^"]*(?:""[^"]*)*"|[^"${end}][^${end}]*|)`;
  const wellQuoted = new RegExp(`^${cell}(?:${end}${cell})*[\\r\\n]*$`, 'u');
  let line = separatorLine.test(head) ? 2 : 1;
  let headings: readonly string[] | undefined;
  // Called while the text is parsed, so that `line` is right if the parser throws.
  const rowOf = ({ record, raw }: { readonly record: readonly string[]; readonly raw: string }) => {
    const place = `line ${line}`;
    line += raw.split(lineBreak).length - 1;
    if (record.every((text) => text.trim() === '')) return null;
    if (headings === undefined) {
      headings = headingsOf(name, record);
      return null;
    }
    const isMalformed = raw.includes('"') && !wellQuoted.test(raw);
    const problem = isMalformed ? unescaped : misfit(record, headings);
    const cells = headings.map((heading, i) => [heading, record[i]]).filter(([heading]) => heading);
    const content = problem === undefined ? Object.fromEntries(cells) : raw;
    return { place, bytes: raw.length, content, problem };
  };
  // The types of csv-parse don't know the argument of on_record with the option raw.
  const options: object = {
    ...{ delimiter, from_line: line, record_delimiter: ['\r\n', '\n', '\r'], raw: true },
    cast: (text: string, { quoting }: CastingContext) => (quoting ? text : text.trim()),
    ...{ relax_column_count: true, relax_quotes: true, max_record_size: longestRow },
    on_record: rowOf,
  };
  const parser = parse(options);
  // An error of the source is thrown where the rows are read.
  pipeline(Readable.from(pieces), parser, () => {});
  try {
    yield* parser;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const [before = ''] = new RegExp(`^(?:${cell}${end})*`, 'u').exec(String(error.raw)) ?? [];
    const place = `${name}, line ${line + before.split(lineBreak).length - 1}`;
    throw new Failure(
      `${place}: A quotation mark opens a cell here and is never closed, or the row is longer than 4 MiB.`,
    );
  }
}

const unescaped =
  'A quotation mark follows another one in the same cell: inside quotation marks, write it twice.';

/** Spreadsheets read the delimiter from a first line such as `sep=;`. */
const separatorLine = /^"?sep=(.)"?[\r\n]/i;

/** The delimiter that a file names, or the one that splits its first row into the most cells. */
export function delimiterOf({ name, head }: Text): string {
  const [, separator] = separatorLine.exec(head) ?? [];
  if (separator !== undefined) return separator;
  if (/\.tsv$/i.test(name)) return '\t';
  const unquoted = head.replace(/"[^"]*"/g, '').replace(/^[\r\n]+/, '');
  const [firstLine = ''] = unquoted.split(lineBreak, 1);
  const cellsBy = (delimiter: string) => firstLine.split(delimiter).length;
  return [',', ';', '\t'].reduce((best, one) => (cellsBy(one) > cellsBy(best) ? one : best));
}

function headingsOf(name: string, record: readonly string[]): readonly string[] {
  const headings = record.map((heading) => heading.trim());
  const twice = headings.find((heading, i) => heading !== '' && headings.indexOf(heading) < i);
  if (twice === undefined) return headings;
  throw new Failure(`${name} has two columns with the heading ${quoted(twice)}: rename one.`);
}

function misfit(record: readonly string[], headings: readonly string[]): string | undefined {
  const wanted = headings.findLastIndex((heading) => heading !== '') + 1;
  const isOver = record.some((text, i) => text.trim() !== '' && !headings[i]);
  if (record.length >= wanted && !isOver) return undefined;
  const there = counted(headings.filter(Boolean).length, 'heading');
  return `The row has ${counted(record.length, 'cell')}, and there are ${there}.`;
}
