import { createReadStream, statSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { Failure } from '../failure.ts';

/** The longest JSON value that is read into memory, in characters. */
const longestJson = 256 * 1024 * 1024;

/** How many characters are read to detect the format and the delimiter. */
const headLength = 64 * 1024;

export interface Text {
  /** The path, or `standard input`. */
  readonly name: string;
  /** The beginning of the text. */
  readonly head: string;
  /** The whole text, without a byte order mark, and with a line feed at the end. Can be read once. */
  readonly pieces: AsyncIterable<string>;
}

export interface FileRow {
  /** For people: `posts[17]`, counted from 0, or `line 18`, counted from 1. */
  readonly place: string;
  /** The approximate size in the file. Absent if the whole file is in memory. */
  readonly bytes?: number;
  /** A JSON value, or the cells of a CSV row by heading. The raw text if there is a problem. */
  readonly content: unknown;
  /** A sentence that says why the row cannot be read. */
  readonly problem?: string | undefined;
}

/** Opens a file, or standard input for `-`. @throws Failure if it is not UTF-8 */
export async function openText(path: string, signal: AbortSignal): Promise<Text> {
  const isFile = path !== '-';
  const name = isFile ? path : 'standard input';
  if (isFile && statSync(path).isDirectory()) throw new Failure(`${path} is a folder.`);
  const stream = isFile ? createReadStream(path, { highWaterMark: 1024 * 1024 }) : process.stdin;
  const pieces = decoded(name, addAbortSignal(signal, stream));
  let head = '';
  while (head.length < headLength) {
    const { value, done } = await pieces.next();
    if (done) break;
    head += value;
  }
  const all = async function* () {
    yield head;
    yield* pieces;
    yield '\n';
  };
  return { name, head, pieces: all() };
}

async function* decoded(name: string, stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const piece of stream) yield decoder.decode(piece, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Failure(
      `${name} is not UTF-8. Save it as "CSV UTF-8" if it is a spreadsheet; otherwise convert it: ` +
        'iconv -f WINDOWS-1252 -t UTF-8 (or -f UTF-16).',
    );
  }
}

/** @returns the value, or the end of a sentence about the problem */
export function parseJson(text: string): { readonly value?: unknown; readonly problem?: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `is not valid JSON: ${(error as SyntaxError).message}.` };
  }
}

/** Reads a whole document. @throws Failure */
export async function readJson({ name, pieces }: Text): Promise<unknown> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    checkLength(name, text);
  }
  const { value, problem } = parseJson(text);
  if (problem === undefined) return value;
  throw new Failure(`${name} ${problem}`);
}

/** Reads a JSON value from each line. Empty lines are left out. */
export async function* readJsonLines({ name, pieces }: Text): AsyncGenerator<FileRow> {
  let [number, rest] = [0, ''];
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    checkLength(name, rest);
    for (const line of lines) {
      number += 1;
      if (line.trim() === '') continue;
      const { value: content = line, problem } = parseJson(line);
      const said = problem && `The line ${problem}`;
      yield { place: `line ${number}`, bytes: line.length, content, problem: said };
    }
  }
}

function checkLength(name: string, json: string): void {
  if (json.length <= longestJson) return;
  throw new Failure(`${name} is longer than 256 MiB: convert it to JSON Lines (.jsonl).`);
}
