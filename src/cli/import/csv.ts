import { pipeline, Readable } from 'node:stream';
import { Failure } from '../failure.ts';
import { type Given, longestRecord, type Reading, textOf } from './given.ts';

/** A row, and what the parser knows of it. */
interface Row {
  readonly record: Readonly<Record<string, string>>;
  readonly info: {
    readonly lines: number;
    readonly bytes: number;
    /** Of a row with more or fewer cells; these are its `record`. */
    readonly error?: Error & { readonly record?: readonly string[] };
  };
}

/**
 * Reads the rows of a CSV file (RFC 4180) whose first row names the fields. Cells are texts, and an
 * empty one is a field that is absent. Commas separate them; or semicolons or tabs, when the first
 * line has one of these and no comma.
 *
 * @param head the text that the file begins with
 * @param onColumns told the names of the fields, before the first row
 * @throws Failure where the file stops being CSV
 */
export async function* readCsv(
  path: string,
  head: string,
  reading: Reading,
  onColumns: (names: readonly string[]) => void,
): AsyncGenerator<Given> {
  // csv-parse is an optional peer.
  const { CsvError, parse } = await import('csv-parse');
  const [firstLine = ''] = head.split('\n', 1);
  const parser = parse({
    columns: (names: string[]) => {
      checkNames(path, names);
      onColumns(names);
      return names;
    },
    delimiter: [',', ';', '\t'].find((character) => firstLine.includes(character)) ?? ',',
    info: true,
    max_record_size: longestRecord,
    relax_column_count: true,
    skip_empty_lines: true,
  });
  // An error of the source is thrown where the rows are read.
  pipeline(Readable.from(textOf(path, reading)), parser, () => {});
  let bytes = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<Row>) {
      const cells = Object.entries(record).filter(([, cell]) => cell !== '');
      const { error } = info;
      const isWhole = error === undefined;
      yield {
        place: `line ${info.lines - lineFeedsIn(record)}`, // The parser knows in which one it ends.
        bytes: info.bytes - bytes,
        value: isWhole ? Object.fromEntries(cells) : undefined,
        problem: isWhole ? undefined : 'It has more or fewer cells than the first line.',
        raw: error?.record,
      };
      bytes = info.bytes;
    }
  } catch (error) {
    throw error instanceof CsvError
      ? new Failure(`${path} is not valid CSV: ${error.message}.`)
      : error;
  }
}

function lineFeedsIn(record: Row['record']): number {
  return Object.values(record).join('').split('\n').length - 1;
}

function checkNames(path: string, names: readonly string[]): void {
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw new Failure(`${path} names the column "${twice}" twice.`);
  if (!names.includes('__proto__')) return;
  throw new Failure(`${path} names a column "__proto__", and no field may have this name.`);
}
