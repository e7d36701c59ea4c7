import { pipeline, Readable } from 'node:stream';
import { Failure } from '../failure.ts';
import { bytesOf, type Given, longestRecord, type Reading } from './given.ts';

/** A row, and what the parser knows of it. */
interface Row {
  readonly record: Readonly<Record<string, string>>;
  readonly info: { readonly lines: number; readonly bytes: number; readonly error?: Error };
}

/**
 * Reads the rows of a CSV file (RFC 4180) whose first row names the fields. Cells are texts, and an
 * empty one is a field that is absent. Commas separate them; or semicolons or tabs, when the first
 * line has one of these and no comma.
 *
 * @throws Failure where the file stops being CSV
 */
export async function* readCsv(path: string, reading: Reading): AsyncGenerator<Given> {
  // csv-parse is an optional peer.
  const { CsvError, parse } = await import('csv-parse');
  const pieces = utf8(path, reading);
  const first = (await pieces.next()).value ?? Buffer.alloc(0);
  const parser = parse({
    bom: true,
    columns: (names: string[]) => checkedNames(path, names),
    delimiter: delimiterOf(first),
    info: true,
    max_record_size: longestRecord,
    relax_column_count: true,
    skip_empty_lines: true,
  });
  // An error of the source is thrown where the rows are read.
  pipeline(Readable.from(joined(first, pieces)), parser, () => {});
  let bytes = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<Row>) {
      yield {
        place: `line ${lineOf(record, info)}`,
        bytes: info.bytes - bytes,
        ...read(record, info),
      };
      bytes = info.bytes;
    }
  } catch (error) {
    throw error instanceof CsvError
      ? new Failure(`${path} is not the CSV that it should be: ${error.message}.`)
      : error;
  }
}

function read(record: Row['record'], { error }: Row['info']): Pick<Given, 'value' | 'problem'> {
  if (error !== undefined) return { problem: 'It has more or fewer cells than the first line.' };
  return { value: Object.fromEntries(Object.entries(record).filter(([, cell]) => cell !== '')) };
}

/** The line in which a row begins: the parser knows in which one it ends. */
function lineOf(record: Row['record'], { lines }: Row['info']): number {
  const breaks = Object.values(record).map((cell) => cell.split('\n').length - 1);
  return lines - breaks.reduce((sum, count) => sum + count, 0);
}

function checkedNames(path: string, names: string[]): string[] {
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw new Failure(`${path} names the column "${twice}" twice.`);
  if (!names.includes('__proto__')) return names;
  throw new Failure(`${path} names a column "__proto__", and no field may have this name.`);
}

function delimiterOf(first: Buffer): string {
  const [line = ''] = first.toString('utf8').split('\n', 1);
  if (line.includes(',')) return ',';
  return [';', '\t'].find((character) => line.includes(character)) ?? ',';
}

/** The bytes of a file, which have to be UTF-8: the parser would put U+FFFD for what is not. */
async function* utf8(path: string, reading: Reading): AsyncGenerator<Buffer, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const check = (piece?: Buffer) => {
    try {
      decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      throw new Failure(`${path} is not UTF-8: save it as UTF-8.`);
    }
  };
  for await (const piece of bytesOf(path, reading)) {
    check(piece);
    yield piece;
  }
  check();
}

async function* joined(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}
